// Fields that both dialects have and mean alike. Internal to api/. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/json_place.h"
#include "api/parse_options.h"
#include "core/error.h"
#include "core/request.h"

namespace zerohop {

/// `model`; absent: an empty name (default tier), or an error when strict.
Result<std::string> parse_model_name(const JsonPlace& body, const ParseOptions& options);

/// `logit_bias`: an object of token ids and numbers, or an array of pairs, in which `false` bans a
/// token as llama-server has it.
Result<std::vector<LogitBias>> parse_logit_bias(const JsonPlace& body);

/// `seed`; a negative one keeps its bits.
Result<std::optional<std::uint64_t>> parse_seed(const JsonPlace& body);

}  // namespace zerohop

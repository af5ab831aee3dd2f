// Small fields that several requests of the OpenAI dialect share.
// Internal to api/. Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/json_place.h"
#include "api/parse_options.h"
#include "core/error.h"

namespace zerohop {

/// The member `key` (a literal), nothing when it is absent.
Result<std::optional<bool>> parse_openai_flag(const JsonPlace& body, std::string_view key);
/// As above; nothing also for an empty string.
Result<std::optional<std::string>> parse_openai_text(const JsonPlace& body, std::string_view key);

/// `stream_options.include_usage`; false when absent.
Result<bool> parse_openai_include_usage(const JsonPlace& body);

/// `WHAT not supported by this server`, at `place`; `what` ends with its verb.
Error openai_unsupported(const JsonPlace& place, std::string_view what);

}  // namespace zerohop

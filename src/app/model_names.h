// From the name that a client sends to the tier that runs, and back to the name in the reply.
// Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/config.h"
#include "core/error.h"

namespace zerohop {

/// `*` stands for any run of characters, also an empty one; everything else for itself.
bool matches_pattern(std::string_view pattern, std::string_view name);

/// The name to put into the reply: the requested one where it is the tier's name or matches an
/// alias, otherwise the tier's. Error: kNotFound for an unknown name, when the configuration says
/// so.
Result<std::string> resolve_model_name(const ModelConfig& config, std::string_view tier,
                                       std::string_view requested);

/// Every alias must name a tier that runs. Error: kConfiguration.
Result<void> check_alias_targets(const ModelConfig& config, std::string_view tier);

/// Names that a client may list: the tier's, and every alias without a pattern.
std::vector<std::string> listed_model_names(const ModelConfig& config, std::string_view tier);

}  // namespace zerohop

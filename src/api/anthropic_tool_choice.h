// `tool_choice` of an Anthropic request. Internal to api/; the rules are those of
// anthropic_request.h. Pure; any thread. Source: Messages API, tools.
#pragma once

#include "api/anthropic_tools.h"
#include "api/json_place.h"
#include "api/parse_options.h"
#include "core/content.h"
#include "core/error.h"

namespace zerohop {

/// `tool_choice`, and the alias `parallel_tool_calls`. Without tools it means nothing and is not
/// looked at; agents send it all the same. `tools` is the set after all changes.
Result<ToolChoice> parse_anthropic_tool_choice(const JsonPlace& body, const ParseOptions& options,
                                               const AnthropicTools& tools);

}  // namespace zerohop

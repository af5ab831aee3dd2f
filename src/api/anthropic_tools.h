// The tools of an Anthropic request: `tools`, and the blocks that change the set of tools in the
// middle of a conversation. Internal to api/; the rules are those of
// anthropic_request.h. Pure functions; any thread. Source: Messages API, tools.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/anthropic_cache.h"
#include "api/anthropic_reply_options.h"
#include "api/json_place.h"
#include "api/parse_options.h"
#include "core/content.h"
#include "core/error.h"

namespace zerohop {

struct AnthropicTools {
  std::vector<ToolDefinition> definitions;  ///< what the client runs, toolsets expanded
  std::vector<ToolsetCall> toolset_calls;   ///< of these, the members of toolsets
  std::vector<std::string> hosted;  ///< names of tools that were dropped: nobody here runs them

  /// What the model calls the tool `name` of `toolset`; `name` when there is no such member.
  std::string model_name(std::string_view toolset, std::string_view name) const;
};

/// `tools` of the body; null, absent and empty are the same.
Result<AnthropicTools> parse_anthropic_tools(const JsonPlace& body, const ParseOptions& options,
                                             CacheMarks& marks);

/// True for `tool_addition` and `tool_removal`.
bool is_tool_change(std::string_view type);

/// A block for which is_tool_change(). An added tool is visible from the start, since a prompt has
/// one list of tools; a removed one is gone.
Result<void> apply_tool_change(const JsonPlace& block, const ParseOptions& options,
                               AnthropicTools& tools);

}  // namespace zerohop

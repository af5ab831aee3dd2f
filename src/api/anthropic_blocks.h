// One content block of a message. Internal to api/; the rules are those of anthropic_request.h.
// Pure functions; any thread. Source: Messages API, content blocks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/anthropic_tools.h"
#include "api/json_place.h"
#include "api/parse_options.h"
#include "core/content.h"
#include "core/error.h"
#include "core/request.h"

namespace zerohop {

/// Where a block stands.
struct BlockRules {
  const ParseOptions& options;
  const AnthropicTools& tools;
  Role role = Role::kUser;
};

/// Nothing when the block says nothing to the model. Blocks that change the set of tools are not
/// read here (is_tool_change).
Result<std::optional<ContentBlock>> parse_anthropic_block(const JsonPlace& block,
                                                          const BlockRules& rules);

/// The `type` of a block; an error when it is no object or has none.
Result<std::string_view> block_type(const JsonPlace& block);

}  // namespace zerohop

// Whether every tool call of a conversation is answered and every answer has its call, as the
// hosted API demands. Internal to api/; pure; any thread. Source: Messages API, tool use.
#pragma once

#include "api/json_place.h"
#include "core/error.h"

namespace zerohop {

/// For strict mode. `messages` has been parsed without an error: an array of messages with content.
/// Each tool_result answers a tool_use of the assistant turn just before it, each tool_use is
/// answered in the turn just behind it unless the conversation ends, and no id comes twice.
Result<void> check_tool_pairs(const JsonPlace& messages);

}  // namespace zerohop

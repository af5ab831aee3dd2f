// The part of an Anthropic request that the model reads: `tools`, `system` and `messages`.
// Internal to api/; the rules are those of anthropic_request.h. Pure; any thread.
#pragma once

#include "api/anthropic_tools.h"
#include "api/json_place.h"
#include "api/parse_options.h"
#include "core/error.h"
#include "core/request.h"

namespace zerohop {

struct AnthropicConversation {
  /// Its system, messages and cache mark; the rest keeps its defaults. There is at least one
  /// message; no text block is empty, but a message may have no blocks at all. Calls of tools are
  /// in assistant messages only, results in user messages only and in front there: an assistant
  /// message that holds a result has been cut there.
  Conversation conversation;
  AnthropicTools tools;  ///< after all changes
};

/// `body` is an object.
Result<AnthropicConversation> parse_anthropic_conversation(const JsonPlace& body,
                                                           const ParseOptions& options);

}  // namespace zerohop

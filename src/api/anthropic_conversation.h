// The part of an Anthropic request that the model reads: `system` and `messages`.
// Internal to api/; the rules are those of anthropic_request.h. Pure; any thread.
#pragma once

#include "api/json_place.h"
#include "api/parse_options.h"
#include "core/error.h"
#include "core/request.h"

namespace zerohop {

/// `body` is an object. The result has at least one message; no text block in it is empty, but a
/// message may have no blocks at all.
Result<Conversation> parse_anthropic_conversation(const JsonPlace& body,
                                                  const ParseOptions& options);

}  // namespace zerohop

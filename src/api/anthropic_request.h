// Anthropic dialect, inward: the body of a request → the typed request, or the reason why not.
//
// Lenient unless asked to be strict:
//
//   gap or habit                            lenient                          strict
//   model missing or null                   empty name: default tier         400
//   max_tokens missing or null              ParseOptions::default_max_tokens 400
//   temperature above 1                     used, up to kTemperatureMax      400
//   stop, max_completion_tokens,            understood                       400
//     min_p, seed, logit_bias
//   stop sequence as a bare string          understood                       400
//   blank stop sequence, empty text block   used; dropped                    400
//   white space at the end of a prefill     trimmed                          400
//
// In both: unknown fields and cache_control anywhere are ignored, null means absent, `content` and
// `system` may be a string, roles may come in any order and repeat (the prompt stage merges), a
// conversation may end with an assistant turn (prefill: generation continues it). `thinking` and
// `redacted_thinking` blocks of replayed assistant turns are dropped. What this server can not do
// (tools, images, documents, structured output, server-side state) is refused by name, because an
// answer that silently ignored it would be wrong.
//
// Every error is kInvalidRequest; `field` is the path, `message` says what would be right.
// Pure functions, no exceptions; any thread (meant for workers: 1 MB of body takes milliseconds).
// Source: Messages API, request.
#pragma once

#include <string_view>

#include "api/parse_options.h"
#include "core/error.h"
#include "core/request.h"

namespace zerohop {

/// POST /v1/messages.
Result<ChatRequest> parse_messages_request(std::string_view body, const ParseOptions& options);

/// POST /v1/messages/count_tokens: model, system and messages; everything about generation is not
/// looked at, `generation` and `stream` keep their defaults.
Result<ChatRequest> parse_count_tokens_request(std::string_view body, const ParseOptions& options);

}  // namespace zerohop

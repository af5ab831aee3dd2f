// Anthropic dialect, inward: the body of a request → the typed request, or the reason why not.
//
// Lenient unless asked to be strict:
//
//   gap or habit                            lenient                          strict
//   model missing or null                   empty name: default tier         400
//   max_tokens missing or null              ParseOptions::default_max_tokens 400
//   temperature above 1                     used, up to kTemperatureMax      400
//   fields of other APIs (see               understood                       400
//     anthropic_foreign_fields.cc)
//   stop sequence as a bare string          understood                       400
//   blank stop sequence, empty text block   used; dropped                    400
//   white space at the end of a prefill     trimmed                          400
//   tool without a schema, tools in the     no parameters; understood        400
//     form of the other dialect
//   tool names of any printable characters  used                             400
//   tools that only the hosted API runs     dropped                          400, named
//   tool_choice as a string, "required"     understood                       400
//   tool calls and results without partner  used                             400
//   budget_tokens missing or small          used                             400
//   more than four cache_control marks      used                             400
//
// In both: unknown fields are ignored, null means absent, `content` and `system` may be a string,
// roles may come in any order and repeat (the prompt stage merges), a conversation may end with an
// assistant turn (prefill: generation continues it). Content that has no form for a text model
// becomes text (search results, images inside tool results, results of other servers' tools); an
// image that the client wants looked at is refused. What this server can not do (MCP servers,
// containers, threads, compaction) is refused by name, because an answer that silently ignored it
// would be wrong.
//
// Every error is kInvalidRequest; `field` is the path, `message` says what would be right.
// Pure functions, no exceptions; any thread (meant for workers: 1 MB of body takes milliseconds).
// Source: Messages API, request.
#pragma once

#include <string>
#include <string_view>

#include "api/anthropic_reply_options.h"
#include "api/parse_options.h"
#include "core/error.h"
#include "core/request.h"

namespace zerohop {

struct AnthropicRequest {
  ChatRequest chat;
  AnthropicReplyOptions reply;  ///< what the body says of it; headers may say more
};

/// POST /v1/messages.
Result<AnthropicRequest> parse_messages_request(std::string_view body, const ParseOptions& options);

/// The member `anthropic_version`, in which clients of cloud vendors send what others put into the
/// header; empty when there is none, or the body is no such request. To be known before a request
/// is read, because a version may choose how strictly.
std::string anthropic_version_of(std::string_view body);

/// POST /v1/messages/count_tokens: what the prompt is made of; everything about generation is not
/// looked at, `generation` and `stream` keep their defaults.
Result<ChatRequest> parse_count_tokens_request(std::string_view body, const ParseOptions& options);

}  // namespace zerohop

// OpenAI dialect, inward: the body of POST /v1/chat/completions → the typed request, or the reason
// why not.
//
// Lenient unless asked to be strict:
//
//   gap or habit                                   lenient                          strict
//   model missing                                  empty name: default tier         400
//   temperature above 2, penalties beyond ±2       used, up to the limits           400
//   more than 4 stop sequences, empty ones         used; dropped                    400
//   max_tokens -1                                  ParseOptions::default_max_tokens 400
//   content, tool call id or tool_call_id missing  empty; made up; next open call   400
//   tools of the vendor's, custom tools            left out                         400
//   tool_choice without tools                      ignored                          400 if forcing
//   unknown reasoning effort                       the model's default              400
//
// In both: unknown fields are ignored, null means absent, max_tokens may be missing, roles may come
// in any order, fields of llama-server and vLLM are understood (openai_generation.h,
// openai_output.h). What this server can not do (images, audio, grammars) is refused by name,
// because an answer that silently ignored it would be wrong.
//
// Every error is kInvalidRequest; `field` is the path, `message` says what would be right.
// Pure functions, no exceptions; any thread (meant for workers: 1 MB of body takes milliseconds).
// Source: Chat Completions API, request.
#pragma once

#include <string_view>

#include "api/openai_wire.h"
#include "api/parse_options.h"
#include "core/error.h"
#include "core/request.h"

namespace zerohop {

struct OpenAiChatRequest {
  ChatRequest chat;
  OpenAiReplyOptions reply;
};

Result<OpenAiChatRequest> parse_chat_completions_request(std::string_view body,
                                                         const ParseOptions& options);

}  // namespace zerohop

// OpenAI dialect, inward: the body of POST /v1/responses → the typed request.
//
// Nothing is stored: `store` is ignored and answered with false; what refers to stored state
// (`previous_response_id`, `conversation`, `prompt`, `background`) is refused by name. `include` is
// ignored, log-probabilities are not given. Tools of the vendor's are left out; leniences are those
// of openai_chat_request.h.
//
// Every error is kInvalidRequest; `field` is the path. Pure functions; any thread.
// Source: Responses API, request.
#pragma once

#include <string>
#include <string_view>

#include "api/parse_options.h"
#include "core/error.h"
#include "core/request.h"

namespace zerohop {

struct OpenAiResponsesRequest {
  ChatRequest chat;
  /// Members of the request that every response object repeats, as JSON: `"instructions":…,…`.
  std::string echo;
  std::string_view service_tier;  ///< for OpenAiReplyHead; static text; empty: none was named
};

Result<OpenAiResponsesRequest> parse_responses_request(std::string_view body,
                                                       const ParseOptions& options);

}  // namespace zerohop

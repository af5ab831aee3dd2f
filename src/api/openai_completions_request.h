// OpenAI dialect, inward: the body of POST /v1/completions → prompts and how to continue each.
//
// Leniences are those of openai_chat_request.h. Refused by name: `suffix` (no model here fills
// gaps), `best_of` other than `n` (answers are not ranked), and `logprobs` together with `echo`
// (the prompt's own log-probabilities are not kept).
//
// Every error is kInvalidRequest; `field` is the path. Pure functions; any thread.
// Source: Completions API, request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/openai_prompts.h"
#include "api/openai_wire.h"
#include "api/parse_options.h"
#include "core/content.h"
#include "core/error.h"
#include "core/request.h"

namespace zerohop {

struct OpenAiCompletionsRequest {
  std::string model;                  ///< as the client named it; may be empty (default tier)
  std::vector<OpenAiPrompt> prompts;  ///< not empty
  GenerationParameters generation;    ///< of every answer
  OutputRules output;
  std::uint32_t choices_per_prompt = 1;
  bool stream = false;
  bool echo = false;  ///< answers begin with their prompt
  OpenAiReplyOptions reply;
  RequestLabels labels;

  /// Choice `prompt · choices_per_prompt + k` is answer k to `prompt`.
  std::uint32_t choices() const {
    return static_cast<std::uint32_t>(prompts.size()) * choices_per_prompt;
  }
};

/// Most prompts in one request, so that one client's list can not fill the engine's queue.
inline constexpr std::size_t kCompletionPromptsMax = 64;

Result<OpenAiCompletionsRequest> parse_completions_request(std::string_view body,
                                                           const ParseOptions& options);

}  // namespace zerohop

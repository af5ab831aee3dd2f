// What `zerohop explain-miss` says: where two requests part, or what a server recorded. Pure but
// for the model's tokenizer and template; any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "core/request.h"
#include "prompt/prompt_stage.h"

namespace zerohop {

/// A request body of either dialect as what its model reads. Errors: what is wrong with it.
Result<Conversation> conversation_of(std::string_view body);

struct PromptPair {
  std::string_view first_name;  ///< of the earlier one, for people
  std::string_view second_name;
  const Conversation& first;
  const Conversation& second;
};

/// How many tokens the second prompt shares with the first, in which part of it the first
/// difference lies, the text around it in both, and what to do about it. Ends in a line end.
/// Errors: those of PromptStage::prepare().
Result<std::string> compare_prompts(const PromptPair& pair, const PromptStage& prompts,
                                    const Tokenizer& tokenizer);

/// The body of GET /v1/cache/misses for people, the latest miss last. Errors: kInvalidRequest (it
/// is none).
Result<std::string> misses_text(std::string_view body);

}  // namespace zerohop

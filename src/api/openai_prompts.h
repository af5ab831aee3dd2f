// Inputs that need no conversation: the prompts of /v1/completions and the inputs of
// /v1/embeddings. Text, or tokens of the model's own vocabulary.
// Plain values, pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "api/json_place.h"
#include "core/error.h"
#include "core/token.h"

namespace zerohop {

using OpenAiPrompt = std::variant<std::string, std::vector<Token>>;

/// Reads a string, an array of strings, one array of token ids, or an array of such arrays. Between
/// 1 and `most` prompts; an array of tokens is never empty. Whether an id is in the vocabulary is
/// for the caller to check. Texts may be empty. Internal to api/.
Result<std::vector<OpenAiPrompt>> parse_openai_prompts(const JsonPlace& place, std::size_t most);

}  // namespace zerohop

#include "api/openai_prompts.h"

#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "core/limits.h"

namespace zerohop {
namespace {

constexpr std::string_view kWanted = "a string, an array of strings or an array of token ids";

Result<std::vector<Token>> parse_tokens(const JsonPlace& place) {
  ZH_ASSIGN_OR_RETURN(const std::size_t count, place.array_size(limits::kJsonValuesMax));
  if (count == 0) return place.error("must not be empty");
  std::vector<Token> tokens;
  tokens.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    ZH_ASSIGN_OR_RETURN(const std::int64_t token,
                        place.element(i).integer({0, std::numeric_limits<Token>::max()}));
    tokens.push_back(static_cast<Token>(token));
  }
  return tokens;
}

Result<OpenAiPrompt> parse_prompt(const JsonPlace& place) {
  if (place.is_array()) {
    ZH_ASSIGN_OR_RETURN(auto tokens, parse_tokens(place));
    return OpenAiPrompt(std::move(tokens));
  }
  if (!place.is_string()) return place.expected(kWanted);
  ZH_ASSIGN_OR_RETURN(const std::string_view text, place.string());
  return OpenAiPrompt(std::string(text));
}

bool holds_numbers(const JsonPlace& array) {
  const auto& elements = array.value().as_array();
  return !elements.empty() && elements.front().is_number();
}

}  // namespace

Result<std::vector<OpenAiPrompt>> parse_openai_prompts(const JsonPlace& place, std::size_t most) {
  std::vector<OpenAiPrompt> prompts;
  if (!place.is_array() || holds_numbers(place)) {
    ZH_ASSIGN_OR_RETURN(OpenAiPrompt prompt, parse_prompt(place));
    prompts.push_back(std::move(prompt));
    return prompts;
  }
  ZH_ASSIGN_OR_RETURN(const std::size_t count, place.array_size(most));
  if (count == 0) return place.error("must not be empty");
  prompts.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    ZH_ASSIGN_OR_RETURN(OpenAiPrompt prompt, parse_prompt(place.element(i)));
    prompts.push_back(std::move(prompt));
  }
  return prompts;
}

}  // namespace zerohop

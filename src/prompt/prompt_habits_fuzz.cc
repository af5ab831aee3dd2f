// Fuzz target: the first line is a pattern, the rest a system prompt. Whatever they are, no byte of
// the prompt appears twice or is lost but line breaks and blanks, and a second pass finds nothing
// that the first one missed. Seeds: tests/corpus/prompt_habits/.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "prompt/prompt_habits.h"

namespace zerohop {
namespace {

std::string sorted_without_space(std::string text) {
  std::erase_if(text, [](char c) {
    return std::string_view(" \t\n\v\f\r").find(c) != std::string_view::npos;
  });
  std::sort(text.begin(), text.end());
  return text;
}

}  // namespace
}  // namespace zerohop

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerohop;
  const std::string input(data, data + size);
  const std::size_t line_end = std::min(input.find('\n'), input.size());
  const PromptHabits habits{.strip_billing_header = false,
                            .volatile_patterns = {input.substr(0, line_end)}};
  const std::string prompt = line_end < input.size() ? input.substr(line_end + 1) : std::string();

  Conversation conversation{{{prompt}}, {}};
  const HabitCounts counts = apply_prompt_habits(habits, conversation);
  const std::string kept = conversation.system[0].text;
  ZH_CHECK(sorted_without_space(kept + conversation.volatile_context) ==
           sorted_without_space(prompt));
  if (counts.moved[0] == 0) ZH_CHECK(kept == prompt);

  ZH_CHECK(apply_prompt_habits(habits, conversation).moved[0] == 0);
  ZH_CHECK(conversation.system[0].text == kept);
  return 0;
}

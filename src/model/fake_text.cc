#include "model/fake_text.h"

#include <array>

#include "model/fake_model.h"

namespace zerohop {
namespace {

constexpr std::array<std::string_view, 3> kControlTexts{"<|im_start|>", "<|im_end|>",
                                                        "<|endoftext|>"};

// Longer pieces. Two are halves of "é" and of an emoji joined to a letter: a
// token's bytes need not be whole characters.
constexpr std::array<std::string_view, 14> kPieces{
    "the ", " and ",       "Paris",    " is",   "STOP",     "\n\n",     "user\n",
    "ing ", "assistant\n", "system\n", "a\xc3", "\xa9\xf0", "\x9f\x98", "END"};

}  // namespace

FakeTokenizer::FakeTokenizer() {
  for (int byte = 0; byte < 256; ++byte) {
    const char character = static_cast<char>(byte);
    table_.add(std::string_view(&character, 1), false, false);
  }
  for (const std::string_view text : kControlTexts) {
    table_.add("", true, text != kControlTexts[0]);
    special_texts_.emplace_back(text);
  }
  for (const std::string_view piece : kPieces) table_.add(piece, false, false);
  // Longest first, as the interface promises: "<|endoftext|>", "<|im_start|>",
  // "<|im_end|>".
  std::swap(special_texts_[0], special_texts_[2]);
  std::swap(special_texts_[1], special_texts_[2]);
}

std::vector<Token> FakeTokenizer::tokenize(std::string_view text, SpecialTokens special) const {
  std::vector<Token> tokens;
  tokens.reserve(text.size());
  while (!text.empty()) {
    Token best = static_cast<unsigned char>(text[0]);
    std::size_t length = 1;
    if (special == SpecialTokens::kParse) {
      for (std::size_t i = 0; i < kControlTexts.size(); ++i) {
        if (text.starts_with(kControlTexts[i])) {
          best = FakeTokens::kBegin + static_cast<Token>(i);
          length = kControlTexts[i].size();
        }
      }
    }
    for (std::size_t i = 0; i < kPieces.size(); ++i) {
      if (kPieces[i].size() > length && text.starts_with(kPieces[i])) {
        best = static_cast<Token>(256 + kControlTexts.size() + i);
        length = kPieces[i].size();
      }
    }
    tokens.push_back(best);
    text.remove_prefix(length);
  }
  return tokens;
}

void FakeChatTemplate::append_system(const TemplateInput& input, std::string& prompt) const {
  const bool own = !input.messages.empty() && input.messages.front().role == "system";
  prompt += std::string(kControlTexts[0]) + "system\n";
  if (own) prompt += input.messages.front().content + "\n\n";
  prompt += "<tools>";
  for (const TemplateTool& tool : input.tools) {
    prompt += "\n{\"name\": \"" + tool.name + "\", \"description\": \"" + tool.description +
              "\", \"parameters\": " + tool.parameters + "}";
  }
  prompt += "\n</tools><|im_end|>\n";
}

void FakeChatTemplate::append_turn(const TemplateMessage& message, std::string& prompt) const {
  if (skills_.thinking && !message.reasoning.empty()) {
    prompt += "<think>\n" + message.reasoning + "\n</think>\n\n";
  }
  const bool result = skills_.tools && message.role == "tool";
  if (result) prompt += "<tool_response>\n";
  prompt += message.content;
  if (result) prompt += "\n</tool_response>";
  if (!skills_.tools) return;
  for (const TemplateToolCall& call : message.tool_calls) {
    prompt += "\n<tool_call>\n{\"name\": \"" + call.name + "\", \"arguments\": " + call.arguments +
              "}\n</tool_call>";
  }
}

Result<std::string> FakeChatTemplate::render(const TemplateInput& input) const {
  std::string prompt;
  const bool lists_tools = skills_.tools && !input.tools.empty();
  if (lists_tools) append_system(input, prompt);
  for (std::size_t i = 0; i < input.messages.size(); ++i) {
    const TemplateMessage& message = input.messages[i];
    if (lists_tools && i == 0 && message.role == "system") continue;
    prompt += std::string(kControlTexts[0]) + message.role + "\n";
    append_turn(message, prompt);
    const bool open = input.continue_last && i + 1 == input.messages.size();
    if (!open) prompt += "<|im_end|>\n";
  }
  if (!input.continue_last) prompt += "<|im_start|>assistant\n";
  const bool thinks = input.thinking.value_or(true);
  if (skills_.thinking && !input.continue_last) {
    prompt += thinks ? "<think>\n" : "<think>\n\n</think>\n\n";
  }
  return prompt;
}

}  // namespace zerohop

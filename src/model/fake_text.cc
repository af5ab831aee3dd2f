#include "model/fake_text.h"

#include <array>

#include "model/fake_model.h"

namespace zerohop {
namespace {

constexpr std::array<std::string_view, 3> kControlTexts{"<|im_start|>", "<|im_end|>",
                                                        "<|endoftext|>"};

// Longer pieces. Two are halves of "é" and of an emoji joined to a letter: a token's bytes need not
// be whole characters.
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
  // Longest first, as the interface promises: "<|endoftext|>", "<|im_start|>", "<|im_end|>".
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

Result<std::string> FakeChatTemplate::render(std::span<const TemplateMessage> messages,
                                             bool continue_last) const {
  std::string prompt;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    prompt += "<|im_start|>" + messages[i].role + "\n" + messages[i].content;
    const bool open = continue_last && i + 1 == messages.size();
    if (!open) prompt += "<|im_end|>\n";
  }
  if (!continue_last) prompt += "<|im_start|>assistant\n";
  return prompt;
}

}  // namespace zerohop

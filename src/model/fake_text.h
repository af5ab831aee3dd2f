// Vocabulary and chat template of the fake model (fake_model.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/model.h"

namespace zerohop {

class FakeTokenizer final : public Tokenizer {
 public:
  FakeTokenizer();

  std::vector<Token> tokenize(std::string_view text, SpecialTokens special) const override;
  const TokenTable& table() const override { return table_; }
  std::optional<Token> begin_of_sequence() const override { return std::nullopt; }
  const std::vector<std::string>& special_texts() const override { return special_texts_; }

 private:
  TokenTable table_;
  std::vector<std::string> special_texts_;
};

/// ChatML, as the default model uses it, but without a default system text.
class FakeChatTemplate final : public ChatTemplate {
 public:
  Result<std::string> render(std::span<const TemplateMessage> messages,
                             bool continue_last) const override;
  bool from_model() const override { return true; }
};

}  // namespace zerohop

// Vocabulary and chat template of the fake model (fake_model.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/fake_model.h"
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

/// ChatML, as the default model uses it, but without a default system text. What it knows beyond
/// texts is chosen, in the form of Hermes and Qwen: tools, calls and results as "<tool_call>" and
/// JSON; thoughts in "<think>" tags, with a switch that is on by default.
class FakeChatTemplate final : public ChatTemplate {
 public:
  explicit FakeChatTemplate(FakeTemplateSkills skills = {}) : skills_(skills) {}

  Result<std::string> render(const TemplateInput& input) const override;
  bool from_model() const override { return true; }

 private:
  void append_system(const TemplateInput& input, std::string& prompt) const;
  void append_turn(const TemplateMessage& message, std::string& prompt) const;

  const FakeTemplateSkills skills_;
};

}  // namespace zerohop

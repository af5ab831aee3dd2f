// A tokenizer and templates for the tests of this folder.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/model.h"

namespace zerohop {

/// Bytes are tokens 0 to 255; two equal bytes in a row become one token (256 + byte), so that a
/// seam in the text shows in the tokens; special texts are tokens from 512 on. Special texts are
/// taken out longest first, like libllama does.
class SeamTokenizer final : public Tokenizer {
 public:
  static constexpr Token kFirstSpecial = 512;

  explicit SeamTokenizer(std::vector<std::string> specials = {"<|endoftext|>", "<|im_start|>",
                                                              "<|im_end|>"})
      : specials_(std::move(specials)) {
    for (int byte = 0; byte < 256; ++byte) {
      table_.add(std::string(1, static_cast<char>(byte)), false, false);
    }
    for (int byte = 0; byte < 256; ++byte) {
      table_.add(std::string(2, static_cast<char>(byte)), false, false);
    }
    for (std::size_t i = 0; i < specials_.size(); ++i) table_.add("", true, false);
  }

  std::vector<Token> tokenize(std::string_view text, SpecialTokens special) const override {
    std::vector<Token> tokens;
    append(text, special == SpecialTokens::kParse ? 0 : specials_.size(), tokens);
    return tokens;
  }
  const TokenTable& table() const override { return table_; }
  std::optional<Token> begin_of_sequence() const override { return begin_; }
  const std::vector<std::string>& special_texts() const override { return specials_; }

  void set_begin_of_sequence(Token token) { begin_ = token; }
  /// Makes special text `index` swallow the white space on both of its sides.
  void set_swallowing(std::size_t index) { swallowing_ = index; }

 private:
  void append(std::string_view text, std::size_t index, std::vector<Token>& tokens) const {
    for (; index < specials_.size(); ++index) {
      const std::size_t found = text.find(specials_[index]);
      if (found == std::string_view::npos) continue;
      std::string_view before = text.substr(0, found);
      std::string_view behind = text.substr(found + specials_[index].size());
      if (index == swallowing_) {
        while (!before.empty() && before.back() == ' ') before.remove_suffix(1);
        while (!behind.empty() && behind.front() == ' ') behind.remove_prefix(1);
      }
      append(before, index, tokens);
      tokens.push_back(kFirstSpecial + static_cast<Token>(index));
      append(behind, index, tokens);
      return;
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
      const Token byte = static_cast<unsigned char>(text[i]);
      const bool twice = i + 1 < text.size() && text[i + 1] == text[i];
      tokens.push_back(twice ? 256 + byte : byte);
      if (twice) ++i;
    }
  }

  std::vector<std::string> specials_;
  TokenTable table_;
  std::optional<Token> begin_;
  std::optional<std::size_t> swallowing_;
};

inline std::size_t count_control(const Tokenizer& tokenizer, TokenSpan tokens) {
  return static_cast<std::size_t>(std::count_if(tokens.begin(), tokens.end(), [&](Token token) {
    return tokenizer.table().is_control(token);
  }));
}

/// ChatML with a function that changes contents; counts its runs.
class TestTemplate : public ChatTemplate {
 public:
  using Change = std::function<std::string(const TemplateMessage&)>;

  TestTemplate() : TestTemplate([](const TemplateMessage& message) { return message.content; }) {}
  explicit TestTemplate(Change change) : change_(std::move(change)) {}

  Result<std::string> render(const TemplateInput& input) const override {
    const std::span<const TemplateMessage> messages = input.messages;
    const bool continue_last = input.continue_last;
    renders_->fetch_add(1);
    if (refuses && refuses(messages)) return invalid_request("messages", "refused by the template");
    std::string text;
    for (const TemplateMessage& message : messages) {
      text += "<|im_start|>" + message.role + "\n" + change_(message);
      const bool open = continue_last && &message == &messages.back();
      if (!open) text += "<|im_end|>\n";
    }
    return continue_last ? text : text + "<|im_start|>assistant\n";
  }
  bool from_model() const override { return true; }

  /// Runs so far; copies of a template share the count.
  int renders() const { return renders_->load(); }

  std::function<bool(std::span<const TemplateMessage>)> refuses;

 private:
  Change change_;
  std::shared_ptr<std::atomic<int>> renders_ = std::make_shared<std::atomic<int>>(0);
};

/// A model without weights around a tokenizer and a template.
class PromptTestModel final : public Model {
 public:
  PromptTestModel(std::unique_ptr<Tokenizer> tokenizer, std::unique_ptr<ChatTemplate> chat_template)
      : tokenizer_(std::move(tokenizer)), template_(std::move(chat_template)) {
    info_.name = "prompt-test";
  }

  const ModelInfo& info() const override { return info_; }
  const Tokenizer& tokenizer() const override { return *tokenizer_; }
  const ChatTemplate& chat_template() const override { return *template_; }
  Result<std::unique_ptr<ModelContext>> make_context(const ContextOptions&) const override {
    return Error{ErrorCode::kConfiguration, "there are no weights", {}, {}};
  }

 private:
  ModelInfo info_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::unique_ptr<ChatTemplate> template_;
};

inline Message message_of(Role role, std::vector<std::string> blocks) {
  Message message{role, {}};
  for (std::string& block : blocks) message.content.emplace_back(TextBlock{std::move(block)});
  return message;
}
inline Message user(std::string text) { return message_of(Role::kUser, {std::move(text)}); }
inline Message assistant(std::string text) {
  return message_of(Role::kAssistant, {std::move(text)});
}
inline Message system_entry(std::string text) {
  return message_of(Role::kSystem, {std::move(text)});
}

/// A tool with one parameter, "city".
inline ToolDefinition tool_named(std::string name, std::string description = "Looks.") {
  return {.name = std::move(name),
          .description = std::move(description),
          .input_schema = R"({"type":"object","properties":{"city":{"type":"string"}}})"};
}
inline ToolUseBlock call_of(std::string id, std::string name) {
  return {std::move(id), std::move(name), R"({"city":"Rome"})"};
}
inline ToolResultBlock result_of(std::string id, std::string text) {
  return {.tool_use_id = std::move(id), .content = {TextBlock{std::move(text)}}};
}

/// The text of a prompt, with the names of control tokens in place.
inline std::string visible_text(const Tokenizer& tokenizer, TokenSpan tokens) {
  std::string text;
  for (const Token token : tokens) {
    if (!tokenizer.table().is_control(token)) {
      text += tokenizer.table().bytes(token);
      continue;
    }
    for (const std::string& special : tokenizer.special_texts()) {
      if (tokenizer.tokenize(special, SpecialTokens::kParse) == std::vector<Token>{token}) {
        text += special;
      }
    }
  }
  return text;
}

}  // namespace zerohop

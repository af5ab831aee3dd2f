#include "constrain/soft_bias.h"

#include <algorithm>
#include <utility>

namespace zerohop {

SoftBias::SoftBias(std::shared_ptr<const TokenTrie> tokens,
                   std::shared_ptr<const std::vector<SoftRule>> rules)
    : tokens_(std::move(tokens)), rules_(std::move(rules)) {}

void SoftBias::begin(std::string_view tool) {
  tool_ = tool;
  where_ = Where::kStructure;
  in_string_ = false;
  escaped_ = false;
  name_.clear();
  written_.clear();
}

void SoftBias::accept(std::string_view bytes) {
  if (where_ == Where::kOutside) return;
  for (const char byte : bytes) read(byte);
}

// Inside of a string; its end is structure again, or the colon's place.
void SoftBias::read_string(char byte) {
  std::string& text = where_ == Where::kValue ? written_ : name_;
  if (!escaped_ && byte == '"') {
    in_string_ = false;
    if (where_ == Where::kName) where_ = Where::kBehindName;
    if (where_ == Where::kValue) text.push_back(byte);
    return;
  }
  escaped_ = !escaped_ && byte == '\\';
  text.push_back(byte);
}

void SoftBias::read(char byte) {
  if (in_string_) {
    read_string(byte);
    return;
  }
  switch (byte) {
    case '"':
      in_string_ = true;
      escaped_ = false;
      if (where_ == Where::kValue) {
        written_.push_back(byte);
      } else {
        where_ = Where::kName;
        name_.clear();
      }
      return;
    case ':':
      if (where_ == Where::kBehindName) where_ = Where::kValue;
      written_.clear();
      return;
    case ',':
    case '{':
    case '[':
    case '}':
    case ']': where_ = Where::kStructure; return;
    case ' ':
    case '\t':
    case '\r':
    case '\n':
      if (where_ == Where::kValue && !written_.empty()) where_ = Where::kStructure;
      return;
    default:
      if (where_ == Where::kValue) written_.push_back(byte);
  }
}

// Tokens that are a beginning of `rest`, in front of which a blank may stand where nothing has been
// written.
void SoftBias::continue_value(std::string_view rest, float bias) {
  const ByteTrie& trie = tokens_->trie();
  const auto favour = [&](std::uint32_t node) {
    for (const std::uint32_t token : trie.values(node)) {
      biases_.push_back({static_cast<Token>(token), bias});
    }
  };
  trie.follow(rest, favour);
  if (!written_.empty()) return;
  const std::uint32_t blank = trie.child(ByteTrie::kNoNode, ' ');
  if (blank != ByteTrie::kNoNode) trie.follow(rest, favour, blank);
}

std::span<const LogitBias> SoftBias::biases() {
  biases_.clear();
  if (where_ != Where::kValue) return {};
  for (const SoftRule& rule : *rules_) {
    if (rule.argument != name_ || rule.tool != tool_) continue;
    for (const std::string& value : rule.values) {
      if (!value.starts_with(written_)) continue;
      continue_value(std::string_view(value).substr(written_.size()), rule.bias);
    }
  }
  // Values with a common beginning agree on a token; it counts once, with the strongest rule.
  std::sort(biases_.begin(), biases_.end(), [](const LogitBias& a, const LogitBias& b) {
    return a.token != b.token ? a.token < b.token : a.bias > b.bias;
  });
  const auto same = [](const LogitBias& a, const LogitBias& b) { return a.token == b.token; };
  biases_.erase(std::unique(biases_.begin(), biases_.end(), same), biases_.end());
  return biases_;
}

}  // namespace zerohop

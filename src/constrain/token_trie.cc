#include "constrain/token_trie.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace zerohop {
namespace {

// Bytes that no valid UTF-8 text has.
bool never_in_text(unsigned byte) { return byte == 0xc0 || byte == 0xc1 || byte >= 0xf5; }

// Control characters, and the first bytes of planes 4 to 11 of Unicode, where no character is
// assigned: vocabularies made from a sample of texts leave some of them out.
bool rare(unsigned byte) {
  if (byte == 0xf1 || byte == 0xf2) return true;
  return (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7f;
}

}  // namespace

TokenTrie::TokenTrie(std::vector<std::string> bytes, std::vector<Token> end_tokens,
                     std::size_t width)
    : bytes_(std::move(bytes)), end_tokens_(std::move(end_tokens)), width_(width) {
  ZH_CHECK(bytes_.size() <= width_);
  std::sort(end_tokens_.begin(), end_tokens_.end());
  end_tokens_.erase(std::unique(end_tokens_.begin(), end_tokens_.end()), end_tokens_.end());
  for (const Token token : end_tokens_) {
    ZH_CHECK(token >= 0 && static_cast<std::size_t>(token) < width_);
    if (static_cast<std::size_t>(token) < bytes_.size()) {
      bytes_[static_cast<std::size_t>(token)].clear();
    }
  }
  std::vector<ByteTrie::Entry> entries;
  entries.reserve(bytes_.size());
  for (std::size_t token = 0; token < bytes_.size(); ++token) {
    std::string& text = bytes_[token];
    if (text.size() > ByteTrie::kDepthMax) text.clear();
    if (text.empty()) continue;
    entries.push_back({text, static_cast<std::uint32_t>(token)});
    longest_token_ = std::max(longest_token_, text.size());
    if (text.size() == 1) byte_tokens_.set(static_cast<unsigned char>(text[0]));
  }
  trie_ = ByteTrie(std::move(entries));
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (rare(byte) && !byte_tokens_[byte]) covers_controls_ = false;
  }
}

bool TokenTrie::has_bytes_of(std::string_view text) const {
  return std::all_of(text.begin(), text.end(),
                     [&](char byte) { return byte_tokens_[static_cast<unsigned char>(byte)]; });
}

std::shared_ptr<const TokenTrie> TokenTrie::of(const TokenTable& table, const TokenTexts& texts) {
  std::vector<std::string> bytes;
  std::vector<Token> ends;
  bytes.reserve(table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto token = static_cast<Token>(i);
    bytes.emplace_back(table.bytes(token));
    if (table.is_end_of_generation(token)) ends.push_back(token);
  }
  for (const auto& [token, text] : texts) {
    if (table.contains(token)) bytes[static_cast<std::size_t>(token)] = text;
  }
  return std::make_shared<const TokenTrie>(std::move(bytes), std::move(ends), table.size());
}

bool TokenTrie::is_end(Token token) const {
  return std::binary_search(end_tokens_.begin(), end_tokens_.end(), token);
}

std::optional<std::vector<Token>> TokenTrie::greedy(std::string_view text) const {
  std::vector<Token> tokens;
  while (!text.empty()) {
    std::size_t length = 0;
    trie_.follow(text, [&](std::uint32_t node) {
      if (!trie_.has_values(node)) return;
      if (length == 0) tokens.emplace_back();
      length = trie_.node(node).depth;
      tokens.back() = static_cast<Token>(trie_.values(node).front());
    });
    if (length == 0) return std::nullopt;
    text.remove_prefix(length);
  }
  return tokens;
}

Result<void> TokenTrie::covers_bytes() const {
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (never_in_text(byte) || rare(byte) || byte_tokens_[byte]) continue;
    return invalid_request("",
                           "answers of this model cannot be constrained: its vocabulary has no "
                           "token for the single byte " +
                               std::to_string(byte));
  }
  return {};
}

}  // namespace zerohop

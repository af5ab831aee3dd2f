#include "constrain/token_trie.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace zerohop {
namespace {

constexpr Token kNoToken = -1;

// Bytes that no valid UTF-8 text has.
bool never_in_text(unsigned byte) { return byte == 0xc0 || byte == 0xc1 || byte >= 0xf5; }

bool rare_control(unsigned byte) {
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
  byte_tokens_.fill(kNoToken);
  std::vector<ByteTrie::Entry> entries;
  entries.reserve(bytes_.size());
  for (std::size_t token = 0; token < bytes_.size(); ++token) {
    std::string& text = bytes_[token];
    if (text.size() > ByteTrie::kDepthMax) text.clear();
    if (text.empty()) continue;
    entries.push_back({text, static_cast<std::uint32_t>(token)});
    longest_token_ = std::max(longest_token_, text.size());
    Token& single = byte_tokens_[static_cast<unsigned char>(text[0])];
    if (text.size() == 1 && single == kNoToken) single = static_cast<Token>(token);
  }
  trie_ = ByteTrie(std::move(entries));
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (rare_control(byte) && byte_tokens_[byte] == kNoToken) covers_controls_ = false;
  }
}

bool TokenTrie::is_end(Token token) const {
  return std::binary_search(end_tokens_.begin(), end_tokens_.end(), token);
}

std::optional<Token> TokenTrie::byte_token(unsigned char byte) const {
  const Token token = byte_tokens_[byte];
  return token == kNoToken ? std::nullopt : std::optional(token);
}

std::optional<std::vector<Token>> TokenTrie::greedy(std::string_view text) const {
  std::vector<Token> tokens;
  while (!text.empty()) {
    std::size_t length = 0;
    std::uint32_t node = ByteTrie::kNoNode;
    for (std::size_t i = 0; i < text.size(); ++i) {
      node = trie_.child(node, static_cast<unsigned char>(text[i]));
      if (node == ByteTrie::kNoNode) break;
      if (!trie_.has_values(node)) continue;
      if (length == 0) tokens.emplace_back();
      length = i + 1;
      tokens.back() = static_cast<Token>(trie_.values(node).front());
    }
    if (length == 0) return std::nullopt;
    text.remove_prefix(length);
  }
  return tokens;
}

Result<void> TokenTrie::covers_bytes() const {
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (never_in_text(byte) || rare_control(byte) || byte_tokens_[byte] != kNoToken) continue;
    return invalid_request("",
                           "answers of this model cannot be constrained: its vocabulary has no "
                           "token for the single byte " +
                               std::to_string(byte));
  }
  return {};
}

std::size_t TokenTrie::memory_bytes() const {
  std::size_t bytes = trie_.memory_bytes() + bytes_.capacity() * sizeof(std::string);
  for (const std::string& text : bytes_) {
    if (text.size() >= sizeof(std::string) / 2) bytes += text.capacity();
  }
  return bytes;
}

}  // namespace zerohop

// The tokens of a model as bytes, and as a trie over these: what mask_walk.h and the sessions
// walk. Built once when a model is loaded.
//
// Immutable; any thread.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "constrain/byte_trie.h"
#include "core/error.h"
#include "core/token.h"
#include "core/token_table.h"

namespace zerohop {

/// Extra texts of control tokens, which otherwise have none.
using TokenTexts = std::vector<std::pair<Token, std::string>>;

/// `width` is the width of the logits. Tokens without bytes (special ones, padding) are never
/// allowed by a constraint, nor are those of more than ByteTrie::kDepthMax bytes.
class TokenTrie {
 public:
  /// `bytes[t]`: of token t; empty: it has none. End tokens count as having none.
  TokenTrie(std::vector<std::string> bytes, std::vector<Token> end_tokens, std::size_t width);

  /// Of a whole vocabulary. `texts` of tokens that it does not have, or that end generation, count
  /// for nothing.
  static std::shared_ptr<const TokenTrie> of(const TokenTable& table, const TokenTexts& texts = {});

  std::string_view bytes(Token token) const {
    const auto index = static_cast<std::size_t>(token);
    return token >= 0 && index < bytes_.size() ? std::string_view(bytes_[index])
                                               : std::string_view();
  }
  std::span<const Token> end_tokens() const { return end_tokens_; }  ///< ascending
  bool is_end(Token token) const;
  std::size_t width() const { return width_; }
  std::size_t tokens() const { return bytes_.size(); }
  std::size_t longest_token() const { return longest_token_; }  ///< bytes

  /// Values are tokens.
  const ByteTrie& trie() const { return trie_; }

  /// Every byte of `text` is a token by itself, so it takes no more tokens than bytes.
  bool has_bytes_of(std::string_view text) const;

  /// The longest match first: a way to write `text` in tokens. Nothing where a byte has no token.
  std::optional<std::vector<Token>> greedy(std::string_view text) const;

  /// Whether constraints can be had with this vocabulary: every byte that valid UTF-8 text is made
  /// of must be a token by itself; control characters other than tab and line breaks, and the first
  /// bytes of characters from planes 4 to 11 (nothing is assigned there) may be missing. Then
  /// any text of n bytes can be written in n tokens, whatever was written before. Without that a
  /// constraint could get stuck, so it is refused; no known family of models is concerned.
  Result<void> covers_bytes() const;

  /// Those that may be missing are tokens as well. If not, a session looks ahead: it allows no
  /// token behind which the shortest end cannot be written.
  bool covers_controls() const { return covers_controls_; }

 private:
  std::vector<std::string> bytes_;
  std::vector<Token> end_tokens_;
  std::size_t width_;
  std::size_t longest_token_ = 0;
  ByteTrie trie_;
  std::bitset<256> byte_tokens_;  // the bytes that are a token by themselves
  bool covers_controls_ = true;
};

}  // namespace zerohop

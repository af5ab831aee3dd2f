// Tokenises a rendered prompt so that text from outside never becomes a control token, while all
// other text gives exactly the tokens that the model's own tokenizer gives for the prompt in one
// piece; and tokenises no stretch of text twice that it still remembers.
//
// Any thread. The tokenizer must outlive it.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/token.h"
#include "model/model.h"
#include "prompt/special_text.h"
#include "prompt/token_cache.h"

namespace zerohop {

/// A place where bytes and tokens are known to fall together.
struct TextCut {
  std::size_t byte = 0;
  std::size_t token = 0;
};

struct TokenizedText {
  std::vector<Token> tokens;
  std::vector<TextCut> cuts;  ///< ascending; the first one is {0, 0}
};

class GuardedTokenizer {
 public:
  /// Tries out whether this vocabulary gives the same tokens for a prompt in one piece and cut at
  /// its special texts; where it does not, nothing is remembered.
  explicit GuardedTokenizer(const Tokenizer& tokenizer, TokenCacheLimits limits = {});

  /// `foreign`: the ranges of `text` that came from outside, ascending, disjoint, none empty.
  /// Special tokens are made only of what lies wholly between them.
  std::vector<Token> tokenize(std::string_view text, std::span<const ByteRange> foreign) const {
    return tokenize_with_cuts(text, foreign).tokens;
  }
  TokenizedText tokenize_with_cuts(std::string_view text, std::span<const ByteRange> foreign) const;

  /// The same from memory alone; nothing where a stretch would have to be tokenised.
  std::optional<TokenizedText> recall_with_cuts(std::string_view text,
                                                std::span<const ByteRange> foreign) const;

  /// How many of the tokens begin in front of byte `byte` of the text: exact to within the token
  /// that lies across it.
  std::size_t tokens_before(const TokenizedText& tokenized, std::size_t byte) const;

  const SpecialTextFinder& specials() const { return specials_; }
  bool remembers() const { return remembers_; }

  /// `text` ends with the name of a token that ends an answer.
  bool ends_with_end_token(std::string_view text) const;

  /// The token of each special text inside `text` that has no bytes of its own.
  std::vector<std::pair<Token, std::string>> control_tokens_in(std::string_view text) const;

 private:
  struct SpecialToken {
    std::vector<Token> tokens;
    bool swallows_left = false;  // white space
    bool swallows_right = false;
  };

  bool cutting_changes_nothing() const;
  const SpecialToken& special_token(std::size_t index) const;
  TokenizedText tokenize_whole(std::string_view text) const;
  TokenizedText tokenize_in_stretches(std::string_view text,
                                      std::span<const ByteRange> foreign) const;
  template <class Append>
  TokenizedText join_stretches(std::string_view text, std::span<const ByteRange> foreign,
                               const Append& append_stretch) const;
  void append_stretch(std::string_view stretch, std::vector<Token>& tokens) const;

  const Tokenizer& tokenizer_;
  const SpecialTextFinder specials_;
  mutable TokenCache cache_;
  mutable std::mutex known_mutex_;
  /// Guarded by known_mutex_; entries never change and never move.
  mutable std::unordered_map<std::size_t, SpecialToken> known_;
  bool remembers_ = false;
};

}  // namespace zerohop

// Prompts in the order of their tokens, so that the one with the longest common beginning is a
// neighbour: a binary search that skips what both its borders have in common with the prompt.
//
// Not thread-safe. What is inserted stays where it is and unchanged until it is erased.
#pragma once

#include <cstddef>
#include <vector>

#include "core/token.h"

namespace zerohop {

/// Tokens at which `a` and `b` begin alike, beyond the first `known` that are known to be.
std::size_t common_prefix(TokenSpan a, TokenSpan b, std::size_t known = 0);
std::size_t common_suffix(TokenSpan a, TokenSpan b);

/// A prompt that is remembered.
struct RememberedTokens {
  std::vector<Token> tokens;
};

class SortedPrompts {
 public:
  struct Match {
    const RememberedTokens* prompt = nullptr;  ///< null: there is none at all
    std::size_t tokens = 0;                    ///< common beginning
  };

  void insert(const RememberedTokens& prompt);
  void erase(const RememberedTokens& prompt);

  /// The one with the longest beginning in common with `tokens`; of several, one that stands next
  /// to it in the order.
  Match best(TokenSpan tokens) const;

  bool empty() const { return order_.empty(); }

 private:
  struct Place {
    std::size_t index = 0;   // of the first prompt that is not less
    std::size_t before = 0;  // common with the one in front of it
    std::size_t at = 0;      // common with the one there
  };
  Place find(TokenSpan tokens) const;

  std::vector<const RememberedTokens*> order_;
};

}  // namespace zerohop

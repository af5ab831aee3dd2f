// Tokenises a rendered prompt so that text from outside never becomes a control token, while all
// other text gives exactly the tokens that the model's own tokenizer gives for the prompt in one
// piece.
//
// Immutable after construction; any thread. The tokenizer must outlive it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/token.h"
#include "model/model.h"
#include "prompt/special_text.h"

namespace zerohop {

class GuardedTokenizer {
 public:
  explicit GuardedTokenizer(const Tokenizer& tokenizer);

  /// `foreign`: the ranges of `text` that came from outside, ascending, disjoint, none empty.
  /// Special tokens are made only of what lies wholly between them.
  std::vector<Token> tokenize(std::string_view text, std::span<const ByteRange> foreign) const;

  const SpecialTextFinder& specials() const { return specials_; }

 private:
  std::vector<Token> tokenize_in_segments(std::string_view text,
                                          std::span<const ByteRange> foreign) const;

  const Tokenizer& tokenizer_;
  const SpecialTextFinder specials_;
};

}  // namespace zerohop

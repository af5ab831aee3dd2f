// Presence, frequency and repetition penalties: which tokens a sequence holds so far, and what that
// does to the logits of the next one.
//
// A sequence without penalties owns no counts and pays nothing. One with penalties pays one hash
// insertion a token, and for each sampled token a pass over the distinct tokens it has seen (a few
// hundred in a usual answer), not over the vocabulary.
//
// Plain values; the engine thread owns them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/request.h"

namespace zerohop {

/// A token that occurred in the prompt, in the answer or in both.
struct TokenCount {
  Token token = 0;
  std::uint32_t in_answer = 0;  ///< 0: in the prompt only
};

class TokenCounts {
 public:
  void add_prompt(TokenSpan tokens);
  void add_answer(Token token);

  /// Every token that was added, once, in order of first occurrence. Valid until the next addition.
  std::span<const TokenCount> seen() const { return seen_; }

 private:
  TokenCount& count_of(Token token);

  std::vector<TokenCount> seen_;
  std::unordered_map<Token, std::size_t> places_;  // in seen_
};

/// Whether counts are needed at all, and whether the prompt belongs to them.
bool uses_penalties(const SamplingParameters& parameters);
bool penalises_prompt(const SamplingParameters& parameters);

/// Changes the logits of the tokens in `seen`: first the repetition penalty r (Keskar et al., 2019:
/// a positive logit is divided by r, a negative one multiplied), then −presence −frequency · count
/// for tokens of the answer (as the OpenAI API defines them). Tokens outside of `logits` are
/// skipped.
void apply_penalties(std::span<float> logits, const SamplingParameters& parameters,
                     std::span<const TokenCount> seen);

}  // namespace zerohop

// Log-probabilities of the raw distribution: what the model thought before penalties, bias,
// temperature and limits changed it (the log-probabilities that the OpenAI API reports).
//
// Sampling overwrites logits, so read() comes first and keeps what is asked for later. Two passes
// with vector code: the largest logit of each block of 256 (which also says where the likeliest
// tokens can be), then the sum of the exponentials; and one copy. No sort of the vocabulary.
//
// One object per engine: it owns scratch memory. Engine thread only.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/event.h"
#include "core/token_table.h"

namespace zerohop {

class TokenChances {
 public:
  /// Reads the raw logits and finds the `count` likeliest tokens (the lowest id among equals; NaN
  /// is nobody; fewer where there are fewer).
  void read(std::span<const float> logits, std::size_t count);

  /// The event for `chosen`, a token of the logits that were read.
  TokenLogprobs describe(Token chosen, const TokenTable& table);

 private:
  struct Ranked {
    float logit;
    Token token;
  };

  void find_likeliest(std::size_t count);
  void insert(Ranked candidate, std::size_t count);
  void sum_weights();
  TokenChance chance_of(Token token, const TokenTable& table) const;

  std::vector<float> logits_;
  std::vector<float> block_tops_;
  std::vector<float> weights_;     // of one block
  std::vector<Ranked> likeliest_;  // likeliest first
  float top_ = 0;
  double log_total_ = 0;  // of exp(logit − top_), natural logarithm
};

}  // namespace zerohop

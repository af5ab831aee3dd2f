// Sampling on raw logits, in the decode loop.
//
// Order: penalties → logit bias → temperature → candidate set → draw. The candidate set is the
// **intersection** of what top_k, top_p and min_p each allow, every one of them judged on the whole
// distribution:
//
//   top_k   the k likeliest tokens
//   top_p   the smallest set of likeliest tokens that reaches probability p (Holtzman et al., 2020)
//   min_p   tokens at least min_p times as likely as the likeliest (Nguyen et al., 2024)
//
// All three keep a head of the distribution sorted by probability, so the intersection is the
// shortest head. It never is empty: the likeliest token stays. Temperature 0 takes the likeliest
// token, the lowest id among equals, and needs no generator.
//
// One uniform number is drawn per sampled token, so a sequence with its own generator and seed
// gives the same text alone or in a batch (as far as its logits are the same; see
// docs/ARCHITECTURE.md).
//
// One sampler per engine: it owns scratch memory. Engine thread only.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "core/request.h"
#include "engine/penalties.h"

namespace zerohop {

/// What a draw depends on besides logits and chance.
struct SampleInput {
  const SamplingParameters& parameters;
  /// What the penalties look at (TokenCounts::seen()); empty where there are none.
  std::span<const TokenCount> seen = {};
};

class Sampler {
 public:
  /// Draws the next token. `logits` has one entry per vocabulary entry and is overwritten. Nothing
  /// when no logit is finite: the model's output is broken.
  std::optional<Token> sample(std::span<float> logits, const SampleInput& input, Random& random);

 private:
  struct Candidate {
    float weight;  // probability relative to the likeliest token
    Token token;
  };

  Token draw_from_all(std::span<const float> logits, float scale, float top, double uniform);
  Token draw_from_head(std::span<const float> logits, const SamplingParameters& parameters,
                       float top, double uniform);
  double weigh_all(std::span<const float> logits, float scale, float top);
  void collect_above(float weight_floor);
  std::size_t head_length(const SamplingParameters& parameters, double total) const;

  std::vector<float> weights_;
  std::vector<double> block_sums_;
  std::vector<Candidate> candidates_;
};

}  // namespace zerohop

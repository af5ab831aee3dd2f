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
// Constraints verify first (constrain/constraint_session.h): a token is drawn as if there were
// none, and the session is asked about that one. Only on a miss a mask is had, and the draw is
// repeated among the legal tokens. Without truncation the result is exactly the model's
// distribution over the legal tokens: with Z their probability, token t comes with p(t) + (1 − Z) ·
// p(t) / Z = p(t) / Z. With top_k, top_p or min_p a hit is a token of the whole distribution's head
// that is legal, and on a miss the head is taken of the legal tokens alone. Both are legal and
// likely; masking first would cost a mask a token. Greedy is exact: the likeliest of all, if legal,
// is the likeliest of the legal. Penalties and biases change the logits before either draw, and no
// bias keeps a constraint from being met. A token of the mask behind which the text could not be
// finished in time is left out and the draw repeated; after kRedrawsMax of these, the text is
// brought to its end.
//
// One uniform number is drawn per sampled token, another one for each draw that is repeated, so a
// sequence with its own generator and seed gives the same text alone or in a batch (as far as its
// logits are the same; see docs/ARCHITECTURE.md).
//
// One sampler per engine: it owns scratch memory. Engine thread only.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "constrain/constraint_session.h"
#include "core/request.h"
#include "engine/penalties.h"

namespace zerohop {

/// What a draw depends on besides logits and chance.
struct SampleInput {
  const SamplingParameters& parameters;
  /// What the penalties look at (TokenCounts::seen()); empty where there are none.
  std::span<const TokenCount> seen = {};
  /// Draws only what it allows while it is active; nullptr: everything.
  ConstraintSession* constraint = nullptr;
  /// Added to raw logits like logit_bias (constrain/soft_bias.h).
  std::span<const LogitBias> soft_bias = {};
};

class Sampler {
 public:
  static constexpr int kRedrawsMax = 8;

  /// Draws the next token. `logits` has one entry per vocabulary entry and is overwritten. Nothing
  /// when no logit is finite: the model's output is broken.
  std::optional<Token> sample(std::span<float> logits, const SampleInput& input, Random& random);

 private:
  struct Candidate {
    float weight;  // probability relative to the likeliest token
    Token token;
  };

  std::optional<Token> draw(std::span<const float> logits, const SamplingParameters& parameters,
                            Random& random);
  Token draw_legal(std::span<float> logits, const SampleInput& input, Random& random);
  std::optional<Token> draw_of_few(std::span<const float> logits, const SampleInput& input,
                                   Random& random);
  std::optional<Token> draw_of_weights(ConstraintSession& constraint, Random& random);
  std::optional<Token> draw_of_logits(std::span<float> logits, const SampleInput& input,
                                      Random& random);
  double note_legal_mass(std::span<const float> logits, const TokenMask& mask,
                         ConstraintStatistics& statistics);
  void keep_legal_weights(const TokenMask& mask);
  void drop_weight(Token token);
  std::optional<Token> draw_weighed(double uniform) const;
  std::optional<std::size_t> draw_among(std::span<const float> logits, std::span<const Token> ids,
                                        const SampleInput& input, Random& random);
  Token draw_from_all(std::span<const float> logits, float scale, float top, double uniform);
  Token draw_from_head(std::span<const float> logits, const SamplingParameters& parameters,
                       float top, double uniform);
  double weigh_all(std::span<const float> logits, float scale, float top);
  void collect_above(float weight_floor);
  std::size_t head_length(const SamplingParameters& parameters, double total) const;

  std::vector<float> weights_;      // of the last draw, as long as block_sums_ is not empty
  std::vector<double> block_sums_;  // empty: that was greedy and weighed nothing
  std::vector<Candidate> candidates_;
  std::vector<Token> legal_;         // of a sparse mask
  std::vector<float> legal_logits_;  // of legal_
};

}  // namespace zerohop

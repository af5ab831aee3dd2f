// Holds a converted model against its original: how far apart their predictions are, and how fast
// each of them computes on this machine.
//
// The divergence. Both models read the same text (prepare_text.h). At every token of its second
// part each gives a distribution over the next token; the Kullback-Leibler divergence of the
// converted one from the original, in nats, is averaged over them:
//
//   tokens   | lead: 256, read without logits |  scored: 256 … 512, in pieces of 128          |
//            |<-- timed as prefill ---------->|<-- timed too --------------------------------->|
//
// Scoring ends early, after 256 tokens or more, when the mean lies further from the limit than
// three of its standard errors: then more text would not change the verdict. 0.006 against a limit
// of 0.02 is settled at once.
//
// The speed. Three figures that bound what a server does: tokens/s of a prompt, of eight sequences
// that decode together, and of one alone. The two models take turns, so that a neighbour on the
// machine disturbs both alike, and the best of several counts, because a disturbance only ever
// makes a step longer. Both halves of the rounds are also timed apart: where their figures of the
// same thing differ, the machine was disturbed in between, and the comparison is worth less. Their
// compute threads sleep between turns: spinning, those of the one would
// take a core from the other for 0.2 s, longer than most steps last.
//
// Needs the interfaces of model.h alone. One thread, which owns both contexts.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/clock.h"
#include "core/error.h"
#include "model/model.h"
#include "model/prepare_text.h"

namespace zerohop {

/// Tokens per second; 0: not measured.
struct ModelSpeed {
  double prefill = 0;  ///< of a prompt
  double batch = 0;    ///< of eight sequences together
  double single = 0;   ///< of one sequence
};

/// Of the second model from the first.
struct ModelDivergence {
  std::uint32_t tokens = 0;  ///< that were compared
  double kl_mean = 0;        ///< nats a token
  double kl_max = 0;         ///< of one token
  double same_first = 0;     ///< share of tokens with the same likeliest next token
  double perplexity_original = 0;
  double perplexity = 0;
};

struct ModelComparison {
  ModelDivergence divergence;
  ModelSpeed original;
  ModelSpeed converted;
  /// By what share two timings of the same steps differ, at most: 0 on a machine that does nothing
  /// else, 0.5 where one of them took twice as long.
  double disturbance = 0;
};

struct CompareOptions {
  const Clock* clock = nullptr;  ///< must not be null
  std::uint32_t threads = 1;
  double kl_limit = 0.02;  ///< what the mean will be compared with
  std::string_view text = preparation_text();
};

/// Errors: kModelFailure (vocabularies differ, a decode failed, logits are not finite, the text
/// has too few tokens for these models), kConfiguration (no context can be made).
Result<ModelComparison> compare_models(const Model& original, const Model& converted,
                                       const CompareOptions& options);

/// The divergence of `to` from `from`, the logits of one token; in nats. Not finite when they are
/// not.
double logit_divergence(std::span<const float> from, std::span<const float> to);

}  // namespace zerohop

// Whether and how far answers are computed ahead of what is known of them: drafts from their own
// text (drafter.h), verified in the step that computes them (engine_draft.cc). Plain values.
#pragma once

#include <cstdint>

#include "core/limits.h"

namespace zerohop {

enum class Speculation : std::uint8_t {
  kOff,
  kNgram,  ///< whenever the text has a proposal, whatever it costs
  kAuto,   ///< where a step is expected to bring more tokens a second by it
};

struct SpeculationOptions {
  Speculation mode = Speculation::kAuto;
  std::uint32_t draft_tokens_max = 16;  ///< of one answer in a step; ≤ limits::kDraftTokensMax
  /// kAuto: with so many answers in a step there are no drafts.
  std::uint32_t answers_max = limits::kDraftAnswersMax;
};

/// Logits that a step needs beside one for each sequence.
inline std::uint32_t draft_logit_rows(const SpeculationOptions& options) {
  return options.mode == Speculation::kOff ? 0 : limits::kDraftRowsMax;
}

}  // namespace zerohop

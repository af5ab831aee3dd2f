// One request inside the engine, and the machine of its life:
//
//              place_queued()            commit(): prompt done          finish(), fail()
//   kQueued ───────────────────▶ kPrefill ─────────────────▶ kDecode ───────────────────▶ (gone)
//      │                            │                           │
//      └────────────────────────────┴── cancelled or failed ────┴───────────────────────▶ (gone)
//
//   kQueued   no slot, nothing computed
//   kPrefill  has a slot; the logits after its prompt are not known yet
//   kDecode   has a slot; tokens holds the prompt and at least one sampled token
//
// Prefill and decode are one thing to the planner: `computed` tokens are in cells, the sequence
// catches up to tokens.size(), and when it has, the next token is sampled.
//
//   tokens   | prompt ................................ | generated ..... |
//   cells    | reused ....... | computed by this request ......... |  1  |
//            0                                                computed   tokens.size()
//
// Engine thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/random.h"
#include "core/usage.h"
#include "engine/engine_request.h"
#include "engine/penalties.h"

namespace zerohop {

enum class Phase : std::uint8_t { kQueued, kPrefill, kDecode };

struct Sequence {
  // Constant after admission
  EngineRequestId id;
  EngineRequest request;
  std::uint32_t output_limit = 0;  ///< tokens; what max_tokens and the window allow
  FinishReason limit_reason = FinishReason::kMaxTokens;  ///< which of the two it was

  // Changing
  Phase phase = Phase::kQueued;
  SlotId slot{-1};
  std::vector<Token> tokens;  ///< prompt, then what was generated
  std::int32_t computed = 0;  ///< tokens whose cells the slot holds
  Usage usage;
  Random random{0};
  std::optional<TokenCounts> counts;      ///< only where a penalty is used
  std::uint32_t retries = 0;              ///< of failed steps
  std::uint32_t step_rows = 0;            ///< rows in the step that runs now
  std::optional<std::size_t> logits_row;  ///< of the step that runs now

  std::int32_t pending() const { return static_cast<std::int32_t>(tokens.size()) - computed; }
  bool cancelled() const { return request.stream->cancelled(); }

  /// Cells that this sequence can ever need.
  std::uint32_t cells_needed() const { return usage.prompt_tokens + output_limit; }

  void check() const {
    ZH_CHECK((phase == Phase::kQueued) == (slot.value < 0));
    ZH_CHECK(computed >= 0 && computed <= static_cast<std::int32_t>(tokens.size()));
    ZH_CHECK(tokens.size() >= usage.prompt_tokens);
    ZH_CHECK(usage.output_tokens <= output_limit);
    ZH_CHECK((phase == Phase::kDecode) == (tokens.size() > usage.prompt_tokens));
  }
};

}  // namespace zerohop

// One request inside the engine, and the machine of its life:
//
//                place()               commit(): prompt done          finish(), fail()
//   kQueued ────────────────▶ kPrefill ─────────────────────▶ kDecode ────────────────▶ (gone)
//      │                       │    ▲                          │    ▲
//      │                park() ▼    │ place()           park() ▼    │ place()
//      │                      kParked ◀── the same state ──▶ kParked
//      │                         │
//      └─────────────────────────┴── cancelled, too late or failed, as everywhere ────▶ (gone)
//
//   kQueued   no slot, nothing computed
//   kPrefill  has a slot; the logits after its prompt are not known yet
//   kDecode   has a slot; tokens holds the prompt and at least one sampled token
//   kParked   had a slot and will have one again. Its cells may be gone meanwhile; everything else
//             (tokens, generator, counts, constraint, output stage) waits here, so its text will be
//             the same
//
// Prefill and decode are one thing to the planner: `computed` tokens are in cells, the sequence
// catches up to tokens.size(), and when it has, the next token is sampled.
//
//   tokens   | prompt ................................ | generated ..... |
//   cells    | reused ....... | computed by this request ......... |  1  | promised |
//            0                                                computed   |     promised_cells
//                                                                  tokens.size()
//
// A constraint may know tokens behind a sampled one; then more than one waits to be computed
// (engine_constrain.cc). Tokens that are only guessed never stand in `tokens`: a draft is computed
// behind them, and what of its cells is not confirmed is gone when the step is over
// (engine_draft.cc).
//
// Engine thread only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/random.h"
#include "constrain/constraint_session.h"
#include "constrain/soft_bias.h"
#include "core/fair_queue.h"
#include "core/usage.h"
#include "engine/drafter.h"
#include "engine/engine_request.h"
#include "engine/penalties.h"
#include "engine/warm_prefix.h"

namespace zerohop {

enum class Phase : std::uint8_t { kQueued, kPrefill, kDecode, kParked };

/// What is held against a sequence after steps that failed with it in the batch.
struct Faults {
  std::uint32_t count = 0;      ///< at the same place
  std::uint32_t elsewhere = 0;  ///< on the way back to it
  std::int32_t begin = 0;       ///< the place: its tokens [begin, end) were computed first
  std::int32_t end = 0;         ///< it is beyond doubt when so many have been computed

  bool any() const { return count + elsewhere > 0; }
};

/// Why a waiting sequence is passed over for now.
struct Aside {
  /// It waits until this one has computed `tokens` of its prompt; nothing: until its own reader has
  /// room.
  std::optional<WorkId> leader;
  std::int32_t tokens = 0;
};

struct Sequence {
  // Constant after admission
  EngineRequestId id;
  EngineRequest request;
  Duration first_token_expected{};   ///< when it came; 0: nothing was known
  std::unique_ptr<WarmPrefix> warm;  ///< of a prefix that is computed for everybody; or null

  // Final once it has started
  std::uint32_t output_limit = 0;  ///< tokens; what max_tokens, the window and scarcity allow
  FinishReason limit_reason = FinishReason::kMaxTokens;  ///< which of them it was
  std::uint32_t soft_limit = 0;                          ///< output_limit if scarcity set it
  TimePoint began_at{};                                  ///< when it got its first slot

  // Changing
  Phase phase = Phase::kQueued;
  SlotId slot{-1};
  std::vector<Token> tokens;         ///< prompt, then what was generated
  std::int32_t computed = 0;         ///< tokens whose cells the slot holds
  std::int32_t sampled_at = 0;       ///< index of the last sampled token, where there is one
  std::uint32_t promised_cells = 0;  ///< that the slot may come to hold
  std::int32_t charged = 0;          ///< most tokens that it ever held: computed again is free
  Usage usage;
  Random random{0};
  std::optional<TokenCounts> counts;  ///< only where a penalty is used
  /// What the answer must look like, from when it is about to start; null: anything.
  std::unique_ptr<ConstraintSession> constraint;
  std::unique_ptr<SoftBias> soft_bias;  ///< likewise; null: none
  bool in_call = false;                 ///< only kept with soft_bias
  std::uint32_t uncached = 0;           ///< tokens to compute, as looked up when it last waited
  /// Of the prompt, as its budget was told: what is lost of it until the start is not billed.
  std::uint32_t promised_cached = 0;
  std::optional<Aside> aside;  ///< while it waits; see WaitingRoom
  /// Those of the most urgent one that waits for this one's prompt.
  PriorityClass urgency = PriorityClass::kBatch;
  double urgency_counter = std::numeric_limits<double>::infinity();
  TimePoint started_at{};                    ///< or went on, whichever was last
  Duration compacting{};                     ///< of what it waited, for cells that were moved
  std::optional<TimePoint> lagging_since{};  ///< its reader has had no room since then
  Faults faults;
  std::uint32_t step_rows = 0;            ///< rows in the step that runs now, without its draft
  std::optional<std::size_t> logits_row;  ///< of the step that runs now
  std::unique_ptr<Drafter> drafter;       ///< from when it first could use one; null: none
  /// In the step that runs now, computed behind `tokens`: the rows behind logits_row.
  std::vector<Token> draft;
  std::int32_t draft_cells = 0;  ///< that the slot holds behind `computed`; no books know of them

  std::int32_t size() const { return static_cast<std::int32_t>(tokens.size()); }
  std::int32_t pending() const { return size() - computed; }
  bool has_slot() const { return slot.value >= 0; }
  bool started() const { return phase != Phase::kQueued; }
  bool has_answered() const { return tokens.size() > usage.prompt_tokens; }
  bool cancelled() const { return request.stream->cancelled(); }
  std::optional<TimePoint> deadline() const {
    return request.stream->deadline(request.scheduling.deadline);
  }
  bool too_late(TimePoint now) const {
    const auto until = deadline();
    return until && *until <= now;
  }
  WorkId work() const { return WorkId(id.value); }
  PriorityClass priority() const { return request.scheduling.priority; }

  /// It has a slot: the phase in which it goes on.
  void go_on() {
    phase = has_answered() ? Phase::kDecode : Phase::kPrefill;
    check();
  }

  /// Cells beyond tokens.size() that it can still use, at most `most`.
  std::uint32_t cells_ahead(std::uint32_t most) const {
    return std::min(output_limit - usage.output_tokens, most);
  }

  void check() const {
    ZH_CHECK(has_slot() == (phase == Phase::kPrefill || phase == Phase::kDecode));
    ZH_CHECK(computed >= 0 && computed <= size());
    ZH_CHECK(has_slot() || (computed == 0 && promised_cells == 0));
    ZH_CHECK(draft_cells == 0);
    ZH_CHECK(static_cast<std::uint32_t>(computed) <= promised_cells);
    ZH_CHECK(tokens.size() >= usage.prompt_tokens);
    ZH_CHECK(usage.output_tokens <= output_limit);
    ZH_CHECK(!has_answered() || phase == Phase::kDecode || phase == Phase::kParked);
    ZH_CHECK(phase != Phase::kDecode || has_answered());
  }
};

using SequencePtr = std::unique_ptr<Sequence>;

}  // namespace zerohop

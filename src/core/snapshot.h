// What the engine publishes about itself after each step: immutable, by value. Admission, tier
// policy, health and metrics read the latest one from any thread; nobody reads the engine itself.
#pragma once

#include <array>
#include <cstdint>

#include "base/clock.h"
#include "core/cache_miss.h"
#include "core/pressure.h"
#include "core/tenant.h"

namespace zerohop {

/// What became of constraints on answers; totals since start unless said otherwise.
struct ConstraintCounts {
  std::uint64_t checks = 0;         ///< sampled tokens that were looked at
  std::uint64_t misses = 0;         ///< of these, not allowed: a mask was needed
  std::uint64_t redraws = 0;        ///< draws from a mask behind which too few tokens were left
  std::uint64_t closings = 0;       ///< misses where only the shortest end was left
  double legal_mass = 0;            ///< sum over misses: how likely a legal token was
  std::uint64_t forced_tokens = 0;  ///< accepted without a draw, because nothing else was possible
  std::uint64_t closed_early = 0;   ///< answers that were brought to their end for want of tokens
  std::uint64_t refused = 0;        ///< requests whose shortest text did not fit
  std::uint64_t masks_built = 0;
  std::uint64_t mask_hits = 0;  ///< masks that were there
  Duration mask_time{};         ///< for those that were built
  Duration mask_time_max{};     ///< for one
  // Now
  std::uint64_t mask_bytes = 0;
  std::uint32_t machines = 0;  ///< of different constraints, followed or kept
  std::uint64_t machine_bytes = 0;
};

/// What became of drafts from the answers' own texts; totals since start.
struct DraftCounts {
  std::uint64_t steps = 0;     ///< with a draft in them
  std::uint64_t drafted = 0;   ///< tokens that were computed before it was known whether they come
  std::uint64_t accepted = 0;  ///< of these, those that came

  std::uint64_t rejected() const { return drafted - accepted; }
  /// Of the drafted tokens, the share that came; 0 before the first.
  double acceptance() const {
    return drafted == 0 ? 0.0 : static_cast<double>(accepted) / static_cast<double>(drafted);
  }
};

struct EngineSnapshot {
  TimePoint taken_at{};

  // Requests
  std::uint32_t queued = 0;  ///< accepted, waiting for a slot or cells
  std::uint32_t prefilling = 0;
  std::uint32_t decoding = 0;
  std::uint32_t paused = 0;      ///< decoding, but the reader is too far behind
  std::uint32_t embeddings = 0;  ///< jobs for vectors that have not ended

  // Cells
  std::uint32_t cells_total = 0;
  std::uint32_t cells_reserved = 0;   ///< promised to running sequences
  std::uint32_t cells_cached = 0;     ///< held by idle sequences for reuse
  std::uint32_t cells_active = 0;     ///< held by running sequences, each shared cell once
  std::uint32_t cells_pinned = 0;     ///< of the cached ones, those that are never evicted
  std::uint32_t parked_requests = 0;  ///< admitted and started, waiting to go on

  // Host memory of the prefix cache
  std::uint64_t host_bytes = 0;
  std::uint64_t host_bytes_max = 0;
  std::uint32_t host_entries = 0;

  // Pressure
  PressureRung rung = PressureRung::kNormal;
  PressureCause rung_cause = PressureCause::kNone;
  double fragmentation = 0;  ///< 0 to 1; EngineLoop::measure_fragmentation() defines it
  /// Several failed steps in a row: the engine tries one sequence at a time.
  bool circuit_open = false;

  // Rates, learned online; 0: nothing is known yet
  double prefill_tokens_per_second = 0;
  double decode_step_seconds = 0;    ///< with the sequences that decode now
  std::uint64_t queued_tokens = 0;   ///< uncached prompt tokens that wait
  std::uint64_t prefill_tokens = 0;  ///< likewise, of those in prefill what is left
  double request_seconds = 0;        ///< mean, from the start of prefill to the end of the answer
  std::uint32_t sequences_max = 0;   ///< that run at once, as far as that is allowed now
  // Of the queue, by PriorityClass: those that wait for their first slot
  std::array<std::uint32_t, kPriorityClasses> queued_by_class{};
  std::array<std::uint64_t, kPriorityClasses> queued_tokens_by_class{};

  // Totals since start
  std::uint64_t steps = 0;
  std::uint32_t threads = 0;         ///< that compute, now
  std::uint64_t thread_changes = 0;  ///< of their number, probes included
  std::uint64_t steps_outrun = 0;    ///< stopped to be computed with fewer threads
  std::uint64_t steps_aborted = 0;   ///< those that were outrun among them
  std::uint64_t prompt_tokens_computed = 0;
  std::uint64_t prompt_tokens_cached = 0;
  std::uint64_t prompt_tokens_restored = 0;                ///< of the cached ones, from host memory
  std::uint64_t tokens_evicted = 0;                        ///< left the device
  std::uint64_t tokens_saved = 0;                          ///< of these, into host memory
  std::uint64_t tokens_forgotten = 0;                      ///< left host memory
  std::array<std::uint64_t, kMissCauses> misses{};         ///< requests, by MissCause
  std::array<std::uint64_t, kMissCauses> missed_tokens{};  ///< by MissCause
  std::array<std::uint64_t, kPressureRungs> rung_entries{};  ///< times that a rung was entered
  std::uint64_t parks_for_cells = 0;                         ///< of running requests
  std::uint64_t parks_for_fairness = 0;
  std::uint64_t parks_for_readers = 0;  ///< whose client reads too slowly
  std::uint64_t resumes = 0;
  std::uint64_t compactions = 0;
  std::uint64_t soft_max_tokens_applied = 0;
  std::uint64_t deadlines_refused = 0;
  // Steps that were undone and tried again, by cause
  std::uint64_t retries_no_room = 0;
  std::uint64_t retries_fatal = 0;
  std::uint64_t retries_not_finite = 0;
  std::uint64_t tokens_charged = 0;  ///< computed for tenants, each once
  std::uint64_t output_tokens = 0;
  std::uint64_t requests_finished = 0;
  std::uint64_t requests_failed = 0;
  std::uint64_t cancelled_queued = 0;
  std::uint64_t cancelled_prefill = 0;
  std::uint64_t cancelled_decode = 0;
  std::uint64_t embedding_tokens = 0;  ///< computed for vectors
  ConstraintCounts constraints;
  DraftCounts drafts;
  Duration busy{};  ///< time inside steps

  Duration last_step{};
  std::uint32_t last_step_rows = 0;

  std::uint32_t running() const { return prefilling + decoding; }
  std::uint64_t prompt_tokens() const { return prompt_tokens_computed + prompt_tokens_cached; }
  /// Of all prompt tokens, the share that was found in the cache; 0 before the first.
  double cache_hit_rate() const {
    const std::uint64_t all = prompt_tokens();
    return all == 0 ? 0.0 : static_cast<double>(prompt_tokens_cached) / static_cast<double>(all);
  }
};

}  // namespace zerohop

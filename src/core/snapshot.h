// What the engine publishes about itself after each step: immutable, by value. Admission, tier
// policy, health and metrics read the latest one from any thread; nobody reads the engine itself.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace zerohop {

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
  std::uint32_t cells_reserved = 0;  ///< promised to running sequences
  std::uint32_t cells_cached = 0;    ///< held by idle sequences for reuse

  // Totals since start
  std::uint64_t steps = 0;
  std::uint64_t steps_aborted = 0;
  std::uint64_t prompt_tokens_computed = 0;
  std::uint64_t prompt_tokens_cached = 0;
  std::uint64_t output_tokens = 0;
  std::uint64_t requests_finished = 0;
  std::uint64_t requests_failed = 0;
  std::uint64_t cancelled_queued = 0;
  std::uint64_t cancelled_prefill = 0;
  std::uint64_t cancelled_decode = 0;
  std::uint64_t embedding_tokens = 0;  ///< computed for vectors
  Duration busy{};                     ///< time inside steps

  Duration last_step{};
  std::uint32_t last_step_rows = 0;

  std::uint32_t running() const { return prefilling + decoding; }
};

}  // namespace zerohop

// The arithmetic of a context before the library is asked: how many cells, whether they can fit,
// and after which cuts a sequence with a sliding window can be continued. Pure; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/error.h"
#include "model/model.h"

namespace zerohop {

/// The library pads the cells of a stream to a multiple of this.
inline constexpr std::uint32_t kLlamaCellTile = 256;

/// Sequence ids that the library has (LLAMA_MAX_SEQ, which it does not publish).
inline constexpr std::uint32_t kLlamaIds = 256;

struct LlamaContextPlan {
  std::uint32_t cells = 0;  ///< of all sequences together, padded
  std::uint32_t slots = 0;  ///< ids for the caller: those that run and the parked ones
  /// The id beside the slots through which ranges are saved and restored (llama_context_impl.h).
  /// None in the stream layout, where ids hold memory, and where all 256 are slots.
  std::optional<std::int32_t> spare;
  std::uint32_t library_sequences = 0;  ///< n_seq_max
  /// Outputs to reserve; the library wants at least one for every sequence.
  std::uint32_t logit_rows = 0;
};

struct LlamaMemory {
  std::uint64_t kv_bytes_per_cell = 0;
  std::uint64_t bytes_total = 0;  ///< of the memory that would hold the cells; 0: unknown
  /// An id costs memory of its own: running states, windows that forget.
  bool ids_hold_memory = false;
};

/// Errors: kConfiguration; `field` is the member of ContextOptions at fault.
Result<LlamaContextPlan> plan_llama_context(const ContextOptions& options,
                                            const LlamaMemory& memory);

struct WindowCut {
  std::int32_t first_held = 0;  ///< smallest position whose cells are there in every layer
  std::int32_t cut = 0;         ///< the sequence would go on at this position
  std::int32_t window = 0;      ///< tokens that a token sees, itself included; 0: no window
};

/// Whether the token at `cut` would find every cell that it looks at. The library does not check:
/// it answers "removed" and then computes wrong text without an error.
constexpr bool window_survives(const WindowCut& at) {
  return at.window <= 0 || at.first_held <= std::max(0, at.cut - at.window + 1);
}

}  // namespace zerohop

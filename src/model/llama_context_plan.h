// The arithmetic of a context before the library is asked: how many cells, whether they can fit,
// and after which cuts a sequence with a sliding window can be continued. Pure; any thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/error.h"
#include "model/model.h"

namespace zerohop {

/// The library pads the cells of a stream to a multiple of this.
inline constexpr std::uint32_t kLlamaCellTile = 256;

struct LlamaContextPlan {
  std::uint32_t cells = 0;  ///< of all sequences together, padded
  /// Outputs to reserve; the library wants at least one for every sequence.
  std::uint32_t logit_rows = 0;
};

struct LlamaMemory {
  std::uint64_t kv_bytes_per_cell = 0;
  std::uint64_t bytes_total = 0;  ///< of the memory that would hold the cells; 0: unknown
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

// Chooses the tokens of one step: first one row for every sequence that decodes, then prefill in
// order of arrival until the step's time is spent.
//
// The time comes from the ITL objective. While somebody decodes, a step may take that long and no
// longer, so a running stream never waits for more than one objective because somebody else sent a
// long prompt. While nobody decodes, steps are longer (fewer, larger chunks compute faster) but
// still bounded, so that a new arrival or a cancellation is noticed soon.
//
// Rows are cut to whole tiles of 64 where the budget reaches that far (limits::kRowTile).
// A pure function of its arguments.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/cost_model.h"

namespace zerohop {

/// What the planner sees of a sequence.
struct PlanInput {
  std::uint32_t pending = 0;   ///< tokens to compute before the next one can be sampled; > 0
  std::uint64_t computed = 0;  ///< cells that its rows look back at
  bool decoding = false;       ///< a client watches tokens arrive
};

/// What a step may hold. Exact steps never mix: the library computes a lone row of a prompt by
/// other kernels than two rows or more (the attention products of one row are plain dot products,
/// those of several go through blocked ones), and it splits mixed batches so that single rows
/// appear. The difference is of the order of rounding, but activations are quantised, and now and
/// then a logit moves by 0.6. So an exact step is either one row for every decoder, or two rows or
/// more of one prompt, and leaves no single row behind.
enum class StepKind : std::uint8_t {
  kMixed,
  kExactDecode,   ///< decoders; a piece of one prompt where nobody decodes
  kExactPrefill,  ///< a piece of one prompt; decoders where there is none
};

struct PlanOptions {
  Duration itl_objective{};
  /// Budget of a step while nobody decodes, in objectives.
  std::uint32_t idle_stretch = 4;
  std::uint32_t rows_max = 0;
  std::uint32_t logit_rows_max = 0;
  StepKind kind = StepKind::kMixed;
};

/// Fewest rows_max that exact steps can be cut from.
inline constexpr std::uint32_t kExactRowsMin = 4;

/// Rows for each input, in the same order; 0 where it has to wait. At least one row in all when
/// there is any input.
std::vector<std::uint32_t> plan_rows(std::span<const PlanInput> inputs, const CostModel& cost,
                                     const PlanOptions& options);

}  // namespace zerohop

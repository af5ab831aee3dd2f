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

struct PlanOptions {
  Duration itl_objective{};
  /// Budget of a step while nobody decodes, in objectives.
  std::uint32_t idle_stretch = 4;
  std::uint32_t rows_max = 0;
  std::uint32_t logit_rows_max = 0;
};

/// Rows for each input, in the same order; 0 where it has to wait. At least one row in all when
/// there is any input.
std::vector<std::uint32_t> plan_rows(std::span<const PlanInput> inputs, const CostModel& cost,
                                     const PlanOptions& options);

}  // namespace zerohop

#include "engine/batch_planner.h"

#include <algorithm>

#include "base/check.h"
#include "core/limits.h"

namespace zerohop {
namespace {

// A prompt always advances by this much a step, or a full batch of decoders could starve it. Costs
// a running stream about 25 ms on two cores.
constexpr std::uint32_t kPrefillRowsMin = 8;

struct Tally {
  StepSize size;
  std::uint32_t logit_rows = 0;

  void add(const PlanInput& input, std::uint32_t rows) {
    // Rows look back at what was computed before the step and at each other.
    size.cells_read += rows * input.computed + std::uint64_t{rows} * (rows - 1) / 2;
    size.rows += rows;
    if (rows == input.pending) ++logit_rows;
  }
};

bool is_single(const PlanInput& input) { return input.decoding && input.pending == 1; }

// Rows of `input` that the remaining time pays for.
std::uint32_t affordable(const PlanInput& input, const CostModel& cost, Duration left) {
  if (left <= Duration::zero()) return 0;
  const Duration row = cost.per_row(input.computed);
  return static_cast<std::uint32_t>(std::min<std::int64_t>(left / row, limits::kBatchRowsMax));
}

// Cuts `rows` so that the whole batch is a multiple of the tile, if it is longer than one.
std::uint32_t align(std::uint32_t rows, std::uint32_t before) {
  const std::uint32_t total = before + rows;
  if (total <= limits::kRowTile) return rows;
  const std::uint32_t excess = total % limits::kRowTile;
  return rows > excess ? rows - excess : rows;
}

}  // namespace

std::vector<std::uint32_t> plan_rows(std::span<const PlanInput> inputs, const CostModel& cost,
                                     const PlanOptions& options) {
  ZH_CHECK(options.rows_max > 0 && options.logit_rows_max > 0);
  std::vector<std::uint32_t> rows(inputs.size(), 0);
  Tally tally;
  // Also one that has to catch up before its next token (its cells were lost) is being watched.
  const bool watched = std::any_of(inputs.begin(), inputs.end(),
                                   [](const PlanInput& input) { return input.decoding; });
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ZH_DCHECK(inputs[i].pending > 0);
    if (!is_single(inputs[i]) || tally.size.rows >= options.rows_max ||
        tally.logit_rows >= options.logit_rows_max) {
      continue;
    }
    rows[i] = 1;
    tally.add(inputs[i], 1);
  }
  const Duration budget =
      watched ? options.itl_objective : options.itl_objective * options.idle_stretch;
  bool first = true;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (is_single(inputs[i])) continue;
    const std::uint32_t room = options.rows_max - tally.size.rows;
    if (room == 0 || tally.logit_rows >= options.logit_rows_max) break;
    std::uint32_t chunk = affordable(inputs[i], cost, budget - cost.predict(tally.size));
    chunk = std::max(chunk, first ? kPrefillRowsMin : 0);
    chunk = std::min({chunk, inputs[i].pending, room});
    if (chunk < inputs[i].pending) chunk = align(chunk, tally.size.rows);
    if (chunk == 0) break;  // in order: nobody overtakes the one that has to wait
    rows[i] = chunk;
    tally.add(inputs[i], chunk);
    first = false;
  }
  return rows;
}

}  // namespace zerohop

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

// Shortens or lengthens a piece of a prompt so that it has two rows and leaves none or two, as far
// as the prompt has them.
std::uint32_t without_single_rows(std::uint32_t rows, std::uint32_t pending) {
  if (rows == 1 && pending > 1) rows = 2;
  if (pending - rows == 1) rows = rows > 2 ? rows - 1 : pending;
  return rows;
}

class Planner {
 public:
  Planner(std::span<const PlanInput> inputs, const CostModel& cost, const PlanOptions& options)
      : inputs_(inputs), cost_(cost), options_(options), rows_(inputs.size(), 0) {
    // Also one that has to catch up before its next token (its cells were lost) is being watched.
    const bool watched = std::any_of(inputs.begin(), inputs.end(),
                                     [](const PlanInput& input) { return input.decoding; });
    budget_ = watched ? options.itl_objective : options.itl_objective * options.idle_stretch;
  }

  std::vector<std::uint32_t> plan() {
    const bool prompts = !std::all_of(inputs_.begin(), inputs_.end(), is_single);
    if (options_.kind != StepKind::kExactPrefill || !prompts) add_decoders();
    if (options_.kind == StepKind::kMixed) {
      add_prompts();
    } else if (tally_.size.rows == 0) {
      add_one_prompt();
    }
    return std::move(rows_);
  }

 private:
  void add_decoders() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      ZH_DCHECK(inputs_[i].pending > 0);
      if (is_single(inputs_[i]) && room() > 0 && logit_room()) add(i, 1);
    }
  }

  // In order of arrival; nobody overtakes the one that has to wait.
  void add_prompts() {
    bool first = true;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (is_single(inputs_[i])) continue;
      if (room() == 0 || !logit_room()) return;
      const std::uint32_t rows = piece_of(i, first ? kPrefillRowsMin : 0);
      if (rows == 0) return;
      add(i, rows);
      first = false;
    }
  }

  void add_one_prompt() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (is_single(inputs_[i])) continue;
      add(i, without_single_rows(piece_of(i, kPrefillRowsMin), inputs_[i].pending));
      return;
    }
  }

  // Rows of a prompt that the time left pays for, at least `least`.
  std::uint32_t piece_of(std::size_t i, std::uint32_t least) const {
    const PlanInput& input = inputs_[i];
    std::uint32_t rows = affordable(input, cost_, budget_ - cost_.predict(tally_.size));
    rows = std::min({std::max(rows, least), input.pending, room()});
    return rows < input.pending ? align(rows, tally_.size.rows) : rows;
  }

  void add(std::size_t i, std::uint32_t rows) {
    rows_[i] = rows;
    tally_.add(inputs_[i], rows);
  }
  std::uint32_t room() const { return options_.rows_max - tally_.size.rows; }
  bool logit_room() const { return tally_.logit_rows < options_.logit_rows_max; }

  const std::span<const PlanInput> inputs_;
  const CostModel& cost_;
  const PlanOptions& options_;
  Duration budget_{};
  Tally tally_;
  std::vector<std::uint32_t> rows_;
};

}  // namespace

std::vector<std::uint32_t> plan_rows(std::span<const PlanInput> inputs, const CostModel& cost,
                                     const PlanOptions& options) {
  ZH_CHECK(options.rows_max > 0 && options.logit_rows_max > 0);
  ZH_CHECK(options.kind == StepKind::kMixed || options.rows_max >= kExactRowsMin);
  return Planner(inputs, cost, options).plan();
}

}  // namespace zerohop

#include "engine/batch_planner.h"

#include <algorithm>

#include "base/check.h"
#include "core/limits.h"

namespace zerohop {
namespace {

// Of the time that prompts get in a step, an aged one may take one part in so many before the first
// one gets the rest.
constexpr int kAgedShare = 4;

// A step that ends a prompt takes one part in so many of the objective, or what that prompt needs.
// On the trace of 27 clients of the VTC artifact with 2.2 times the load that the machine can do,
// the light ones' median time to first token fell from 1.9 to 1.5 times that of running alone, for
// 0.2 % of the throughput (light simulation, fairness_simulation.h).
constexpr int kFirstTokenShare = 2;

// Forced rows leave prompts that wait one part in so many of what decoders leave.
constexpr int kForcedShare = 2;

// For a whole tile of rows a step may be longer than its budget by one part in so many.
constexpr int kTileStretch = 4;

// A cut to whole tiles may cost a step at most one row in so many.
constexpr std::uint32_t kTileLossMax = 8;

struct Tally {
  StepSize size;
  std::uint32_t logit_rows = 0;
};

// Cuts `rows` so that the whole batch is a multiple of the tile, where little is lost by it and
// `least` remain.
std::uint32_t align(std::uint32_t rows, std::uint32_t before, std::uint32_t least) {
  const std::uint32_t total = before + rows;
  const std::uint32_t excess = total % limits::kRowTile;
  const bool cheap = excess * kTileLossMax <= total;
  return cheap && rows > excess && rows - excess >= least ? rows - excess : rows;
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
    const bool prompts = !std::all_of(inputs_.begin(), inputs_.end(),
                                      [](const PlanInput& input) { return input.is_decoder(); });
    if (options_.kind != StepKind::kExactPrefill || !prompts) add_decoders();
    if (options_.kind == StepKind::kMixed) {
      const Duration decoders = cost_.predict(tally_.size);
      add_forced(prompts);
      if (tally_.size.rows > 0) stretch(decoders);
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
      if (inputs_[i].is_decoder() && has_room()) add(i, 1);
    }
  }

  // Behind the first row of a decoder that has one.
  void add_forced(bool prompts_wait) {
    const Duration all = time_left();
    const Duration left_to_others = prompts_wait ? all / kForcedShare : Duration::zero();
    for (std::size_t i = 0; i < inputs_.size() && has_room(); ++i) {
      if (rows_[i] == 0 || rows_[i] == inputs_[i].pending) continue;
      add(i, piece_of(i, {time_left() - left_to_others, 0, Tiles::kIgnore}));
    }
  }

  // `decoders`: what their single rows take.
  void stretch(Duration decoders) {
    const Duration wanted = decoders + decoders / limits::kPromptPart;
    const Duration most = options_.itl_objective * limits::kStepObjectivesMax;
    budget_ = std::max(budget_, std::min(wanted, most));
  }

  // By rank; nobody overtakes the one that has to wait, but for the share of an aged one.
  void add_prompts() {
    const std::vector<std::size_t> order = prompts_by_rank();
    if (order.empty() || !has_room()) return;
    const auto aged =
        std::find_if(order.begin(), order.end(), [this](std::size_t i) { return inputs_[i].aged; });
    std::uint32_t least = limits::kPrefillRowsMin;
    if (aged != order.end() && aged != order.begin()) {
      add(*aged, piece_of(*aged, {time_left() / kAgedShare, least, Tiles::kIgnore}));
      // Where decoders leave no time the aged one advances instead of the first.
      if (time_left() <= Duration::zero()) least = 0;
    }
    for (const std::size_t i : order) {
      if (!has_room()) return;
      add(i, piece_of(i, {time_left(), least, Tiles::kAlign}));
      least = 0;
      if (rows_[i] == inputs_[i].pending) shorten();
      if (rows_[i] < inputs_[i].pending) return;
    }
  }

  // Somebody gets a first token from this step: whoever waits for more may lengthen it only up to
  // this share of the objective.
  void shorten() { budget_ = std::min(budget_, options_.itl_objective / kFirstTokenShare); }

  void add_one_prompt() {
    const std::vector<std::size_t> order = prompts_by_rank();
    if (order.empty()) return;
    const std::size_t i = order.front();
    const std::uint32_t rows = piece_of(i, {time_left(), limits::kPrefillRowsMin, Tiles::kAlign});
    add(i, without_single_rows(rows, inputs_[i].pending));
  }

  std::vector<std::size_t> prompts_by_rank() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_[i].is_decoder()) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
      return inputs_[a].rank < inputs_[b].rank;
    });
    return order;
  }

  enum class Tiles : std::uint8_t { kAlign, kIgnore };
  struct Piece {
    Duration time;
    std::uint32_t least;  // rows
    Tiles tiles;
  };

  // Rows of a prompt that `piece.time` pays for, beyond those that it has.
  std::uint32_t piece_of(std::size_t i, const Piece& piece) const {
    const PlanInput& input = inputs_[i];
    const std::uint32_t most = std::min(input.pending - rows_[i], room());
    const std::uint64_t computed = input.computed + rows_[i];
    const Duration budget = cost_.predict(tally_.size) + piece.time;
    std::uint32_t rows = cost_.rows_within(budget, tally_.size, computed, most);
    rows = std::min(std::max(rows, piece.least), most);
    if (rows == most || piece.tiles == Tiles::kIgnore) return rows;
    if (const std::uint32_t tile = first_tile(i, rows, most)) return tile;
    return align(rows, tally_.size.rows, piece.least);
  }

  // The rows that fill the first tile, where the step takes little longer with them; else 0.
  std::uint32_t first_tile(std::size_t i, std::uint32_t rows, std::uint32_t most) const {
    if (!cost_.has_tiles() || tally_.size.rows + rows >= limits::kRowTile) return 0;
    const std::uint32_t tile = limits::kRowTile - tally_.size.rows;
    if (tile > most) return 0;
    StepSize whole = tally_.size;
    whole.add(tile, inputs_[i].computed + rows_[i]);
    return cost_.predict(whole) <= budget_ + budget_ / kTileStretch ? tile : 0;
  }

  void add(std::size_t i, std::uint32_t rows) {
    if (rows == 0) return;
    tally_.size.add(rows, inputs_[i].computed + rows_[i]);
    rows_[i] += rows;
    if (rows_[i] == inputs_[i].pending) ++tally_.logit_rows;
  }
  Duration time_left() const { return budget_ - cost_.predict(tally_.size); }
  std::uint32_t room() const { return options_.rows_max - tally_.size.rows; }
  bool has_room() const { return room() > 0 && tally_.logit_rows < options_.logit_rows_max; }

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

// How long a step will take, learned online.
//
//   t ≈ s · (g(rows) + a(rows) · (c · cells_read + d · cells_passed))
//
// g: the forward pass without attention: weights are read once, a row costs more among 4 than among
// 64. A table over the logarithm of the rows (1, 2, 4 … 512), linear in between, because no plane
// fits both steps that only decode and steps with a piece of a prompt: whichever came more often
// won, and the first steps of every prompt were far too long or too short. c: attention over the
// cells that the rows look back at. d: passing over cells of a pool that are somebody else's (each
// row does so with all of them). a: 1, and over a pool less from limits::kRowTile rows on, where
// attention goes through blocked products: on the default model behind 1,000 cells 63 rows take
// 158 ms and 64 take 102. s: how fast the machine is right now.
//
// All are learned as logarithms, by a Kalman filter with a diagonal covariance: of what a step took
// more than predicted, each parameter takes the part that its uncertainty explains. The machine's
// speed is what changes within seconds (another number of threads, a busy neighbour), so s follows
// within a few steps; the shape of g hardly changes, so a place in it moves much when it is seen
// for the first time and little afterwards. So a neighbour who comes while everybody decodes is
// known when the next prompt comes. A single slow step (the scheduler took a core away) is clipped:
// it may move the model, not break it.
//
// Tried and dropped: recursive least squares over (1, rows, cells). Steps that only decode leave
// the cost of a row undetermined, every change of speed bent it, and weights that were clipped at
// zero could stay wrong by orders of magnitude: in a simulation with a neighbour who comes and
// goes, prompts were then computed eight rows a step for good.
//
// Pure arithmetic; one owner. Seconds inside, Duration outside.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"

namespace zerohop {

struct StepSize {
  std::uint32_t rows = 0;
  std::uint64_t cells_read = 0;  ///< sum over rows of the positions before them

  /// `more` rows of a sequence of which `computed` cells are there.
  void add(std::uint32_t more, std::uint64_t computed) {
    // Rows look back at what was computed before the step and at each other.
    cells_read += more * computed + std::uint64_t{more} * (more - 1) / 2;
    rows += more;
  }
};

class CostModel {
 public:
  CostModel();

  /// Attention of every row passes over that many cells of a pool, whoever they belong to, from
  /// here on; 0: over its own only.
  void set_pool(std::uint32_t cells) { pool_cells_ = cells; }
  /// From limits::kRowTile rows on a row may cost less than below.
  bool has_tiles() const { return pool_cells_ > 0; }
  /// Seconds that one of so many rows takes for a cell of somebody else, now.
  double pass_price(std::uint32_t rows) const;

  Duration predict(const StepSize& size) const;

  /// Cost of one more row among many that looks back at `cells` cells; never zero.
  Duration per_row(std::uint64_t cells) const;

  /// The most rows of one sequence of which `computed` cells are there, added to a step of size
  /// `step`, for which predict() stays within `budget`; at most `rows_max`. That fewer may take
  /// longer (63 than 64) is no reason against more.
  std::uint32_t rows_within(Duration budget, const StepSize& step, std::uint64_t computed,
                            std::uint32_t rows_max) const;

  /// Prompt tokens a second, in pieces of `rows` that look back at `cells` cells.
  double prefill_rate(std::uint32_t rows, std::uint64_t cells) const;

  void learn(const StepSize& size, Duration measured);

  /// `measured` over what the size of the step alone makes it take: how slow the machine was.
  double slowness(const StepSize& size, Duration measured) const;
  /// What a step takes on a machine of that slowness.
  Duration at_slowness(const StepSize& size, double slowness) const;
  /// The machine is about that slow from here on: another number of threads computes.
  void expect_slowness(double slowness);

 private:
  static constexpr std::size_t kKnots = 10;  // 1, 2, 4 … 512 rows

  /// The logarithm of something, and how little of it is known.
  struct Estimate {
    double value = 0;
    double variance = 0;

    double factor() const { return std::exp(value); }
  };

  /// Between two knots.
  struct Place {
    std::size_t left;
    double right_share;
  };

  static Place place_of(std::uint32_t rows);
  double row_seconds(std::uint32_t rows) const;
  bool is_tiled(std::uint32_t rows) const;
  double tile_factor(std::uint32_t rows) const;
  double pass_seconds(const StepSize& size) const;
  double attention_seconds(const StepSize& size) const;
  double work_of(const StepSize& size) const;
  double seconds_of(const StepSize& size) const;

  Estimate speed_;
  std::array<Estimate, kKnots> shape_;  // of g, against what is assumed in the beginning
  Estimate attention_;                  // of c, likewise
  Estimate passing_;                    // of d, likewise
  Estimate tiling_;                     // a in tiles
  std::uint32_t pool_cells_ = 0;
};

}  // namespace zerohop

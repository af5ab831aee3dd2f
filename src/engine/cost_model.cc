#include "engine/cost_model.h"

#include <algorithm>

#include "core/limits.h"

namespace zerohop {
namespace {

// Where nothing is known yet: a small model on two cores. Seconds a pass, a row and a cell.
constexpr double kPassSeconds = 5e-3;
constexpr double kRowSeconds = 3e-3;
constexpr double kCellSeconds = 0.2e-6;
constexpr double kPassedSeconds = 0.1e-6;
constexpr double kTiledPart = 0.5;

// Standard deviations of logarithms, squared. Steps of equal size differ by about 5 %.
constexpr double kNoise = 0.05 * 0.05;
// What is not known in the beginning: the speed and attention by a factor of ten, the rest by two.
constexpr double kSpeedUnknown = 2.0 * 2.0;
constexpr double kShapeUnknown = 0.5 * 0.5;
constexpr double kAttentionUnknown = 2.0 * 2.0;
// By how much a step may change each: a speed that doubles is followed in about three steps, of
// which the shape takes up a tenth.
constexpr double kSpeedDrift = 0.05 * 0.05;
constexpr double kShapeDrift = 0.01 * 0.01;

// After a change of the number of threads: some 30 %.
constexpr double kSpeedChanged = 0.3 * 0.3;

constexpr double kOutlier = 4.0;
constexpr double kStepSecondsMin = 1e-7;
// Rows between which the cost of one more is taken.
constexpr std::uint32_t kManyRows = 64;

}  // namespace

CostModel::CostModel()
    : speed_{0, kSpeedUnknown},
      attention_{0, kAttentionUnknown},
      passing_{0, kShapeUnknown},
      tiling_{std::log(kTiledPart), kShapeUnknown} {
  shape_.fill({0, kShapeUnknown});
}

CostModel::Place CostModel::place_of(std::uint32_t rows) {
  const double x = std::min(std::log2(std::max(rows, 1u)), kKnots - 1.0);
  const auto left = std::min(static_cast<std::size_t>(x), kKnots - 2);
  return {left, x - static_cast<double>(left)};
}

double CostModel::row_seconds(std::uint32_t rows) const {
  const Place place = place_of(rows);
  const double shape = (1 - place.right_share) * shape_[place.left].value +
                       place.right_share * shape_[place.left + 1].value;
  return (kPassSeconds + kRowSeconds * rows) * std::exp(shape);
}

bool CostModel::is_tiled(std::uint32_t rows) const {
  return has_tiles() && rows >= limits::kRowTile;
}

double CostModel::tile_factor(std::uint32_t rows) const {
  return is_tiled(rows) ? tiling_.factor() : 1;
}

double CostModel::pass_seconds(const StepSize& size) const {
  const std::uint64_t all = std::uint64_t{size.rows} * pool_cells_;
  const std::uint64_t others = all - std::min(all, size.cells_read);
  return kPassedSeconds * static_cast<double>(others) * passing_.factor();
}

double CostModel::attention_seconds(const StepSize& size) const {
  const double read = kCellSeconds * static_cast<double>(size.cells_read) * attention_.factor();
  return (read + pass_seconds(size)) * tile_factor(size.rows);
}

double CostModel::work_of(const StepSize& size) const {
  return row_seconds(size.rows) + attention_seconds(size);
}

double CostModel::pass_price(std::uint32_t rows) const {
  return speed_.factor() * kPassedSeconds * passing_.factor() * tile_factor(rows);
}

double CostModel::seconds_of(const StepSize& size) const { return speed_.factor() * work_of(size); }

double CostModel::slowness(const StepSize& size, Duration measured) const {
  return std::max(to_seconds(measured), kStepSecondsMin) / work_of(size);
}

Duration CostModel::at_slowness(const StepSize& size, double slowness) const {
  return from_seconds(slowness * work_of(size));
}

void CostModel::expect_slowness(double slowness) { speed_ = {std::log(slowness), kSpeedChanged}; }

Duration CostModel::predict(const StepSize& size) const { return from_seconds(seconds_of(size)); }

Duration CostModel::per_row(std::uint64_t cells) const {
  const double rows = row_seconds(kManyRows) - row_seconds(kManyRows / 2);
  const double row = rows / (kManyRows / 2) + attention_seconds({1, cells});
  const double seconds = speed_.factor() * row;
  return std::max(from_seconds(seconds), Duration(1));
}

std::uint32_t CostModel::rows_within(Duration budget, const StepSize& step, std::uint64_t computed,
                                     std::uint32_t rows_max) const {
  const auto fits = [&](std::uint32_t rows) {
    StepSize size = step;
    size.add(rows, computed);
    return predict(size) <= budget;
  };
  // Between two bounds of which the lower one fits or is 0.
  const auto most_between = [&fits](std::uint32_t most, std::uint32_t beyond) {
    while (beyond - most > 1) {
      const std::uint32_t middle = most + (beyond - most) / 2;
      (fits(middle) ? most : beyond) = middle;
    }
    return most;
  };
  const std::uint32_t tile = limits::kRowTile - std::min(step.rows, limits::kRowTile);
  if (!has_tiles() || tile == 0 || tile > rows_max) return most_between(0, rows_max + 1);
  return fits(tile) ? most_between(tile, rows_max + 1) : most_between(0, tile);
}

double CostModel::prefill_rate(std::uint32_t rows, std::uint64_t cells) const {
  StepSize size;
  size.add(rows, cells);
  return rows / seconds_of(size);
}

void CostModel::learn(const StepSize& size, Duration measured) {
  const double expected = seconds_of(size);
  const double seconds = std::max(to_seconds(measured), kStepSecondsMin);
  const double error =
      std::clamp(std::log(seconds / expected), -std::log(kOutlier), std::log(kOutlier));
  // How much each parameter moves the logarithm of the prediction.
  const double rows_share = row_seconds(size.rows) * speed_.factor() / expected;
  const double attention_share = 1 - rows_share;
  const double attention = attention_seconds(size);
  const double passed = pass_seconds(size) * tile_factor(size.rows);
  const double passed_share = attention > 0 ? attention_share * passed / attention : 0;
  const Place place = place_of(size.rows);
  struct Part {
    Estimate& estimate;
    double slope;
    double drift;
  };
  const std::array<Part, 6> parts{
      Part{speed_, 1, kSpeedDrift},
      Part{shape_[place.left], rows_share * (1 - place.right_share), kShapeDrift},
      Part{shape_[place.left + 1], rows_share * place.right_share, kShapeDrift},
      Part{attention_, attention_share - passed_share, kShapeDrift},
      Part{passing_, passed_share, kShapeDrift},
      Part{tiling_, is_tiled(size.rows) ? attention_share : 0, kShapeDrift}};
  double spread = kNoise;
  for (const Part& part : parts) {
    // Where the step says nothing about a parameter, nothing was forgotten of it.
    part.estimate.variance += part.drift * part.slope;
    spread += part.estimate.variance * part.slope * part.slope;
  }
  for (const Part& part : parts) {
    const double gain = part.estimate.variance * part.slope / spread;
    part.estimate.value += gain * error;
    part.estimate.variance *= 1 - gain * part.slope;
  }
}

}  // namespace zerohop

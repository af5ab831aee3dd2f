#include "engine/cost_model.h"

#include <algorithm>

namespace zerohop {
namespace {

// Where nothing is known yet: a small model on two cores. Seconds a pass, a row and a cell.
constexpr double kPassSeconds = 5e-3;
constexpr double kRowSeconds = 3e-3;
constexpr double kCellSeconds = 0.2e-6;

// Standard deviations of logarithms, squared. Steps of equal size differ by about 5 %.
constexpr double kNoise = 0.05 * 0.05;
// What is not known in the beginning: the speed by a factor of ten, shape and attention by two.
constexpr double kSpeedUnknown = 2.0 * 2.0;
constexpr double kShapeUnknown = 0.5 * 0.5;
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

CostModel::CostModel() : speed_{0, kSpeedUnknown}, attention_{0, kShapeUnknown} {
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

double CostModel::cell_seconds(std::uint64_t cells) const {
  return kCellSeconds * static_cast<double>(cells) * attention_.factor();
}

double CostModel::work_of(const StepSize& size) const {
  return row_seconds(size.rows) + cell_seconds(size.cells_read);
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
  const double seconds = speed_.factor() * (rows / (kManyRows / 2) + cell_seconds(cells));
  return std::max(from_seconds(seconds), Duration(1));
}

std::uint32_t CostModel::rows_within(Duration budget, const StepSize& step, std::uint64_t computed,
                                     std::uint32_t rows_max) const {
  const auto fits = [&](std::uint32_t rows) {
    StepSize size = step;
    size.add(rows, computed);
    return predict(size) <= budget;
  };
  std::uint32_t most = 0;
  std::uint32_t beyond = rows_max + 1;
  while (beyond - most > 1) {
    const std::uint32_t middle = most + (beyond - most) / 2;
    (fits(middle) ? most : beyond) = middle;
  }
  return most;
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
  const Place place = place_of(size.rows);
  struct Part {
    Estimate& estimate;
    double slope;
    double drift;
  };
  const std::array<Part, 4> parts{
      Part{speed_, 1, kSpeedDrift},
      Part{shape_[place.left], rows_share * (1 - place.right_share), kShapeDrift},
      Part{shape_[place.left + 1], rows_share * place.right_share, kShapeDrift},
      Part{attention_, 1 - rows_share, kShapeDrift}};
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

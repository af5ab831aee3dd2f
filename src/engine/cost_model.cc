#include "engine/cost_model.h"

#include <algorithm>

namespace zerohop {
namespace {

constexpr double kForgetting = 0.98;
// Where nothing is known yet: a small model on two cores. Wrong by a factor of ten costs a few steps.
constexpr std::array<double, 3> kPrior{5e-3, 3e-3, 0.2};
// The third feature is in units of a million cells, which keeps the three weights within a few orders
// of magnitude and the recursion well conditioned.
constexpr double kCellScale = 1e-6;
constexpr double kOutlier = 4.0;
constexpr double kCovarianceMax = 1e4;
constexpr double kRowSecondsMin = 1e-7;

}  // namespace

CostModel::CostModel() : weights_(kPrior), covariance_{} {
  for (std::size_t i = 0; i < 3; ++i) covariance_[i][i] = 1.0;
}

CostModel::Vector CostModel::features(const StepSize& size) {
  return {1.0, static_cast<double>(size.rows), static_cast<double>(size.cells_read) * kCellScale};
}

double CostModel::dot(const Vector& x) const {
  return weights_[0] * x[0] + weights_[1] * x[1] + weights_[2] * x[2];
}

Duration CostModel::predict(const StepSize& size) const {
  return from_seconds(std::max(dot(features(size)), 0.0));
}

Duration CostModel::per_row(std::uint64_t cells) const {
  const double seconds = weights_[1] + weights_[2] * static_cast<double>(cells) * kCellScale;
  return std::max(from_seconds(std::max(seconds, kRowSecondsMin)), Duration(1));
}

void CostModel::learn(const StepSize& size, Duration measured) {
  const Vector x = features(size);
  const double expected = std::max(dot(x), 1e-6);
  const double seconds = std::min(to_seconds(measured), kOutlier * expected);
  Vector gain{};
  double denominator = kForgetting;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) gain[i] += covariance_[i][j] * x[j];
    denominator += x[i] * gain[i];
  }
  const double error = (seconds - dot(x)) / denominator;
  for (std::size_t i = 0; i < 3; ++i) weights_[i] = std::max(weights_[i] + gain[i] * error, 0.0);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      covariance_[i][j] = (covariance_[i][j] - gain[i] * gain[j] / denominator) / kForgetting;
    }
    // Forgetting blows a direction up that is never excited (say, always one row a step).
    covariance_[i][i] = std::clamp(covariance_[i][i], 1e-9, kCovarianceMax);
  }
}

}  // namespace zerohop

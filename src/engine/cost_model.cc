#include "engine/cost_model.h"

#include <algorithm>

namespace zerohop {
namespace {

constexpr double kForgetting = 0.98;
// Where nothing is known yet: a small model on two cores. Wrong by a factor of ten costs a few
// steps.
constexpr std::array<double, 3> kPrior{5e-3, 3e-3, 0.2};
// The third feature is in units of a million cells, which keeps the three weights within a few
// orders of magnitude and the recursion well conditioned.
constexpr double kCellScale = 1e-6;
constexpr double kOutlier = 4.0;
// What is forgotten of a direction that no step excites (say, always one row a step) comes back as
// this much, so the matrix stays invertible and the weights stay where they were. A covariance that
// grew by forgetting and was clamped instead ended up indefinite, and the weights at zero for ever.
// Cells count in millionths, hence their smaller share.
constexpr std::array<double, 3> kInformationMin{1e-2, 1e-2, 1e-4};
constexpr double kRowSecondsMin = 1e-7;

using Matrix = std::array<std::array<double, 3>, 3>;

// m · y = x for a symmetric positive definite m, by elimination; the pivots stay positive.
std::array<double, 3> solve(Matrix m, std::array<double, 3> x) {
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t i = k + 1; i < 3; ++i) {
      const double factor = m[i][k] / m[k][k];
      for (std::size_t j = k; j < 3; ++j) m[i][j] -= factor * m[k][j];
      x[i] -= factor * x[k];
    }
  }
  for (std::size_t k = 3; k-- > 0;) {
    for (std::size_t j = k + 1; j < 3; ++j) x[k] -= m[k][j] * x[j];
    x[k] /= m[k][k];
  }
  return x;
}

}  // namespace

CostModel::CostModel() : weights_(kPrior), information_{} {
  for (std::size_t i = 0; i < 3; ++i) information_[i][i] = 1.0;
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
  const double error = seconds - dot(x);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      information_[i][j] = kForgetting * information_[i][j] + x[i] * x[j];
    }
    information_[i][i] += (1.0 - kForgetting) * kInformationMin[i];
  }
  const Vector gain = solve(information_, x);
  for (std::size_t i = 0; i < 3; ++i) weights_[i] = std::max(weights_[i] + gain[i] * error, 0.0);
}

}  // namespace zerohop

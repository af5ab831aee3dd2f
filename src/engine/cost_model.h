// How long a step will take, learned online.
//
//   t ≈ a + b · rows + c · cells_read
//
// a: fixed cost of a forward pass (weights are read once); b: a row's matrix work; c: attention
// over the cells that the rows look back at. Recursive least squares with exponential forgetting (a
// window of about 50 steps), so that a change of threads or a busy neighbour is followed within
// seconds. A single slow step (the scheduler took a core away) is clipped: it may move the model,
// not break it.
//
// Pure arithmetic; one owner. Seconds inside, Duration outside.
#pragma once

#include <array>
#include <cstdint>

#include "base/clock.h"

namespace zerohop {

struct StepSize {
  std::uint32_t rows = 0;
  std::uint64_t cells_read = 0;  ///< sum over rows of the positions before them
};

class CostModel {
 public:
  CostModel();

  Duration predict(const StepSize& size) const;

  /// Cost of one more row that looks back at `cells` cells; never zero.
  Duration per_row(std::uint64_t cells) const;

  void learn(const StepSize& size, Duration measured);

 private:
  using Vector = std::array<double, 3>;

  static Vector features(const StepSize& size);
  double dot(const Vector& x) const;

  Vector weights_;
  std::array<Vector, 3> information_;  // positive definite; its inverse is the weights' covariance
};

}  // namespace zerohop

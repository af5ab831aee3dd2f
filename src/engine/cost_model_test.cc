#include "engine/cost_model.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace zerohop {
namespace {

using std::chrono::milliseconds;

TEST(CostModel, LearnsALinearMachine) {
  CostModel cost;
  Random random(5);
  for (int i = 0; i < 300; ++i) {
    const StepSize size{static_cast<std::uint32_t>(1 + random.below(128)), random.below(50000)};
    const double seconds = 0.010 + 0.001 * size.rows + 0.5e-6 * static_cast<double>(size.cells_read);
    cost.learn(size, from_seconds(seconds));
  }
  EXPECT_NEAR(to_seconds(cost.predict({64, 20000})), 0.084, 0.004);
  EXPECT_NEAR(to_seconds(cost.per_row(0)), 0.001, 0.0002);
}

TEST(CostModel, SurvivesOneStalledStepAndFollowsALastingChange) {
  CostModel cost;
  for (int i = 0; i < 100; ++i) cost.learn({8, 1000}, milliseconds(30));
  cost.learn({8, 1000}, std::chrono::seconds(20));
  EXPECT_LT(to_seconds(cost.predict({8, 1000})), 0.13);
  for (int i = 0; i < 60; ++i) cost.learn({8, 1000}, milliseconds(90));
  EXPECT_NEAR(to_seconds(cost.predict({8, 1000})), 0.09, 0.02);
}

}  // namespace
}  // namespace zerohop

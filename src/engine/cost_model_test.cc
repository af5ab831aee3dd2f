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
    const double seconds =
        0.010 + 0.001 * size.rows + 0.5e-6 * static_cast<double>(size.cells_read);
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

// A few prompts and long stretches of decoding between them: what the stretches say nothing about
// must still be known afterwards.
TEST(CostModel, KeepsWhatItKnowsOfPromptsThroughLongDecoding) {
  const auto machine = [](const StepSize& size) {
    return from_seconds(2e-3 + 3e-3 * size.rows + 0.2e-6 * static_cast<double>(size.cells_read));
  };
  CostModel cost;
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    const StepSize prompt{static_cast<std::uint32_t>(16 + random.below(176)), random.below(12'000)};
    ASSERT_NEAR(to_seconds(cost.predict(prompt)), to_seconds(machine(prompt)),
                0.2 * to_seconds(machine(prompt)))
        << "round " << round;
    cost.learn(prompt, machine(prompt));
    const auto decoders = static_cast<std::uint32_t>(1 + random.below(3));
    for (std::uint64_t step = 0; step < 100; ++step) {
      const StepSize size{decoders, decoders * (100 + step)};
      cost.learn(size, machine(size));
    }
  }
}

}  // namespace
}  // namespace zerohop

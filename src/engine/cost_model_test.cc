#include "engine/cost_model.h"

#include <gtest/gtest.h>

#include <algorithm>

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

// The pool fills up with prefixes that nobody computes with and empties again: what that costs is
// known for all sizes of steps, and the price of a row is not blamed for it.
TEST(CostModel, LearnsWhatPassingOverCellsOfOthersCosts) {
  constexpr double kPassed = 0.4e-6;
  CostModel cost;
  Random random(11);
  for (int i = 0; i < 400; ++i) {
    const auto pool = static_cast<std::uint32_t>(256 * random.below(64));
    const StepSize size{static_cast<std::uint32_t>(1 + random.below(8)), random.below(256)};
    const std::uint64_t all = std::uint64_t{size.rows} * pool;
    const auto others = static_cast<double>(all - std::min(all, size.cells_read));
    cost.set_pool(pool);
    cost.learn(size, from_seconds(5e-3 + 3e-3 * size.rows + kPassed * others));
  }
  cost.set_pool(0);
  EXPECT_NEAR(to_seconds(cost.predict({8, 0})), 0.029, 0.003);
  cost.set_pool(16'384);
  EXPECT_NEAR(to_seconds(cost.predict({8, 0})), 0.029 + 8 * 16'384 * kPassed, 0.008);
  EXPECT_NEAR(cost.pass_price(1), kPassed, 0.1e-6);
}

// Attention over a pool costs half as much a row from 64 rows on.
Duration tiled_machine(const StepSize& size) {
  const double cell = size.rows < 64 ? 2e-6 : 0.8e-6;
  return from_seconds(3e-3 + 0.8e-3 * size.rows + cell * static_cast<double>(size.cells_read));
}

TEST(CostModel, KnowsThatAttentionOfAWholeTileIsCheaper) {
  CostModel cost;
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    const auto rows = static_cast<std::uint32_t>(1 + random.below(i % 2 == 0 ? 16 : 200));
    const StepSize size{rows, rows * random.below(2000)};
    cost.set_pool(static_cast<std::uint32_t>(size.cells_read / rows));
    cost.learn(size, tiled_machine(size));
  }
  cost.set_pool(1000);
  for (const std::uint32_t rows : {8u, 48u, 64u, 160u}) {
    const StepSize size{rows, std::uint64_t{rows} * 1000};
    EXPECT_NEAR(to_seconds(cost.predict(size)), to_seconds(tiled_machine(size)),
                0.2 * to_seconds(tiled_machine(size)))
        << rows;
  }
  // 40 rows take as long as 64 here: who has time for 40 has it for 64.
  const std::uint32_t most = cost.rows_within(milliseconds(118), {8, 8000}, 1000, 500);
  EXPECT_GE(most, 56u);
  EXPECT_LE(cost.rows_within(milliseconds(118), {8, 8000}, 1000, 50), 40u) << "no tile in reach";
}

// A row is dearer among few than among many, so no plane fits: both kinds of steps have to be
// predicted well, whichever came last.
TEST(CostModel, KnowsThatARowAmongManyIsCheaper) {
  const auto machine = [](const StepSize& size) {
    const double many = std::clamp((size.rows - 8.0) / 56, 0.0, 1.0);
    return from_seconds(4e-3 + (2.2e-3 - 0.9e-3 * many) * size.rows +
                        0.2e-6 * static_cast<double>(size.cells_read));
  };
  CostModel cost;
  for (int round = 0; round < 12; ++round) {
    for (std::uint32_t i = 0; i < 200; ++i) cost.learn({4, 4 * (200 + i)}, machine({4, 1600}));
    for (std::uint32_t i = 0; i < 20; ++i) {
      const StepSize size{64, 64 * (100 + 60 * i)};
      if (round >= 2) {
        ASSERT_NEAR(to_seconds(cost.predict(size)), to_seconds(machine(size)),
                    0.1 * to_seconds(machine(size)))
            << "round " << round << " step " << i;
      }
      cost.learn(size, machine(size));
    }
  }
}

// A neighbour who comes while everybody decodes has to be known when the next prompt comes.
TEST(CostModel, CarriesAChangeOfSpeedFromDecodingToPrompts) {
  const auto machine = [](const StepSize& size) { return 4e-3 + 1.5e-3 * size.rows; };
  CostModel cost;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 50; ++i) cost.learn({4, 0}, from_seconds(machine({4, 0})));
    for (int i = 0; i < 20; ++i) cost.learn({60, 0}, from_seconds(machine({60, 0})));
  }
  for (int i = 0; i < 12; ++i) cost.learn({4, 0}, from_seconds(2.5 * machine({4, 0})));
  EXPECT_NEAR(to_seconds(cost.predict({60, 0})), 2.5 * machine({60, 0}), 0.5 * machine({60, 0}));
  for (int i = 0; i < 12; ++i) cost.learn({4, 0}, from_seconds(machine({4, 0})));
  EXPECT_NEAR(to_seconds(cost.predict({60, 0})), machine({60, 0}), 0.2 * machine({60, 0}));
}

// Neighbours that come and go once left the model with predictions that were wrong by orders of
// magnitude for good, and prompts with the fewest rows a step.
TEST(CostModel, IsRightAgainAfterBusyNeighbours) {
  CostModel cost;
  Random random(7);
  double slow = 3;
  const auto machine = [&](const StepSize& size) {
    const double noise = 0.97 + 0.06 * random.uniform();
    return slow * noise *
           (4e-3 + 1.4e-3 * size.rows + 0.25e-6 * static_cast<double>(size.cells_read));
  };
  for (int round = 0; round < 60; ++round) {
    if (round % 7 == 3) slow = 7.5;
    if (round % 7 == 6) slow = 3;
    const auto decoders = static_cast<std::uint32_t>(1 + random.below(7));
    for (std::uint64_t i = random.below(300); i > 0; --i) {
      const StepSize size{decoders, decoders * (700 + i)};
      cost.learn(size, from_seconds(machine(size)));
    }
    for (std::uint32_t i = 0; i < 30; ++i) {
      StepSize size{decoders, decoders * std::uint64_t{1000}};
      size.add(8 + static_cast<std::uint32_t>(random.below(20)), 100 * i);
      const double took = machine(size);
      if (i >= 10) {
        ASSERT_NEAR(to_seconds(cost.predict(size)), took, 0.25 * took)
            << "round " << round << " step " << i;
      }
      cost.learn(size, from_seconds(took));
    }
  }
}

TEST(CostModel, FindsTheMostRowsThatFit) {
  const CostModel cost;
  for (const std::uint32_t before : {0u, 4u, 60u}) {
    for (const std::int64_t budget : {0, 1, 20, 100, 400, 100'000}) {
      const StepSize step{before, before * 300};
      const std::uint32_t rows = cost.rows_within(milliseconds(budget), step, 1000, 500);
      StepSize size = step;
      size.add(rows, 1000);
      EXPECT_TRUE(rows == 0 || cost.predict(size) <= milliseconds(budget));
      size = step;
      size.add(rows + 1, 1000);
      EXPECT_TRUE(rows == 500 || cost.predict(size) > milliseconds(budget));
      EXPECT_LE(rows, 500u);
    }
  }
  EXPECT_EQ(cost.rows_within(milliseconds(100), {}, 0, 0), 0u);
}

TEST(CostModel, StaysSaneWhateverItIsTold) {
  CostModel cost;
  Random random(9);
  for (int i = 0; i < 5000; ++i) {
    const StepSize size{static_cast<std::uint32_t>(random.below(513)),
                        random.below(2) == 0 ? 0 : random.below(1u << 30)};
    cost.learn(size, Duration(static_cast<std::int64_t>(random.below(1u << random.below(32)))));
    ASSERT_GE(cost.predict(size), Duration::zero());
    ASSERT_GT(cost.per_row(random.below(10'000)), Duration::zero());
    ASSERT_GT(cost.prefill_rate(64, 100), 0);
  }
  for (int i = 0; i < 200; ++i) cost.learn({64, 0}, milliseconds(80));
  EXPECT_NEAR(to_milliseconds(cost.predict({64, 0})), 80, 8);
}

}  // namespace
}  // namespace zerohop

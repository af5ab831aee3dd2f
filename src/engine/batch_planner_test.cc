#include "engine/batch_planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/random.h"
#include "core/limits.h"

namespace zerohop {
namespace {

using std::chrono::milliseconds;

PlanOptions options() { return {milliseconds(100), 4, 512, 64}; }

std::uint32_t sum(const std::vector<std::uint32_t>& rows) {
  return std::accumulate(rows.begin(), rows.end(), 0u);
}

PlanInput decoder(std::uint64_t computed = 10) { return {1, computed, true}; }
PlanInput prompt(std::uint32_t pending, std::uint32_t rank = 0) {
  return {pending, 0, false, rank};
}

TEST(BatchPlanner, GivesEveryDecoderOneRow) {
  const std::vector<PlanInput> inputs(8, decoder());
  EXPECT_EQ(plan_rows(inputs, CostModel(), options()), std::vector<std::uint32_t>(8, 1));
}

// So many forced tokens behind the one that every decoder has.
PlanInput forced(std::uint32_t more) { return {1 + more, 10, true}; }

TEST(BatchPlanner, ComputesForcedTokensTogetherWhereTheObjectiveAllows) {
  const std::vector<PlanInput> inputs{decoder(), forced(7), forced(4)};
  EXPECT_EQ(plan_rows(inputs, CostModel(), options()), (std::vector<std::uint32_t>{1, 8, 5}));
}

TEST(BatchPlanner, KeepsToTheObjectiveWithForcedTokens) {
  const CostModel cost;
  const std::vector<PlanInput> inputs(8, forced(limits::kForcedTokensMax));
  const auto rows = plan_rows(inputs, cost, options());
  EXPECT_TRUE(std::all_of(rows.begin(), rows.end(), [](std::uint32_t n) { return n >= 1; }));
  EXPECT_GT(rows[0], rows[7]);
  EXPECT_LE(cost.predict({sum(rows), 10 * sum(rows) + 500}), milliseconds(105));
}

TEST(BatchPlanner, GivesForcedTokensOneRowEachWhereDecodersTakeTheObjective) {
  const std::vector<PlanInput> inputs(40, forced(4));
  EXPECT_EQ(plan_rows(inputs, CostModel(), options()), std::vector<std::uint32_t>(40, 1));
}

TEST(BatchPlanner, GivesPromptsTheirShareBesideForcedTokens) {
  const std::vector<PlanInput> inputs{forced(20), forced(20), prompt(2000)};
  const auto rows = plan_rows(inputs, CostModel(), options());
  EXPECT_GT(rows[0] + rows[1], 12u);
  EXPECT_GE(rows[2] + 2, rows[0] + rows[1]);
}

TEST(BatchPlanner, TakesADecoderThatHasLostCellsForAPrompt) {
  EXPECT_TRUE(forced(limits::kForcedTokensMax).is_decoder());
  EXPECT_FALSE(prompt(1).is_decoder());
  PlanInput lost = forced(1);
  lost.lost = 1;
  EXPECT_FALSE(lost.is_decoder());
  const std::vector<PlanInput> inputs{decoder(), {20, 0, true, 0, false, 19}};
  PlanOptions tight = options();
  tight.itl_objective = milliseconds(1);
  EXPECT_EQ(plan_rows(inputs, CostModel(), tight),
            (std::vector<std::uint32_t>{1, limits::kPrefillRowsMin}));
}

TEST(BatchPlanner, SpendsWhatDecodersLeaveOnThePrompt) {
  const std::vector<PlanInput> inputs{decoder(), prompt(2000), decoder()};
  const auto rows = plan_rows(inputs, CostModel(), options());
  EXPECT_EQ(rows[0], 1u);
  EXPECT_EQ(rows[2], 1u);
  EXPECT_GE(rows[1], 8u);
  EXPECT_LT(rows[1], 64u);  // 100 ms at about 3 ms a row
}

TEST(BatchPlanner, KeepsAStepWithinTheObjectiveWhileSomebodyDecodes) {
  CostModel cost;
  const std::vector<PlanInput> inputs{decoder(500), decoder(900), prompt(4000)};
  const auto rows = plan_rows(inputs, cost, options());
  StepSize size{sum(rows), 1400 + std::uint64_t{rows[2]} * rows[2] / 2};
  EXPECT_LE(cost.predict(size), milliseconds(105));
}

TEST(BatchPlanner, TakesLongerStepsWhileNobodyDecodes) {
  const std::vector<PlanInput> alone{prompt(2000)};
  const std::vector<PlanInput> watched{decoder(), prompt(2000)};
  EXPECT_GT(plan_rows(alone, CostModel(), options())[0],
            3 * plan_rows(watched, CostModel(), options())[1]);
}

TEST(BatchPlanner, KeepsToTheObjectiveWhileADecoderCatchesUp) {
  const std::vector<PlanInput> lost{{300, 0, true, 0, false, 299}};
  const std::vector<PlanInput> fresh{{300, 0, false}};
  EXPECT_LT(plan_rows(lost, CostModel(), options())[0],
            plan_rows(fresh, CostModel(), options())[0]);
}

TEST(BatchPlanner, LeavesPromptsAThirdOfTheStepWhereDecodersTakeTheObjective) {
  const CostModel cost;
  std::vector<PlanInput> inputs(40, decoder());
  const Duration alone = cost.predict({40, 400});
  ASSERT_GT(alone, milliseconds(100));
  inputs.push_back(prompt(2000));
  const auto rows = plan_rows(inputs, cost, options());
  const Duration step = cost.predict({40 + rows[40], 400 + std::uint64_t{rows[40]} * rows[40] / 2});
  EXPECT_GT(step, alone * 5 / 4);
  EXPECT_LE(step, milliseconds(205));
}

TEST(BatchPlanner, AlwaysAdvancesTheFirstPrompt) {
  PlanOptions tight = options();
  tight.itl_objective = milliseconds(1);
  const std::vector<PlanInput> inputs{decoder(), prompt(500), prompt(500)};
  const auto rows = plan_rows(inputs, CostModel(), tight);
  EXPECT_EQ(rows[1], 8u);
  EXPECT_EQ(rows[2], 0u);
}

// 400 ms at about 3 ms a row are 130 rows: two tiles.
TEST(BatchPlanner, CutsLongStepsToWholeTiles) {
  const std::vector<PlanInput> inputs{prompt(2000)};
  EXPECT_EQ(plan_rows(inputs, CostModel(), options())[0] % limits::kRowTile, 0u);
}

TEST(BatchPlanner, DoesNotCutAwayAThirdOfAStep) {
  const std::vector<PlanInput> inputs{prompt(2000)};
  PlanOptions shorter = options();
  shorter.itl_objective = milliseconds(75);
  EXPECT_NEAR(plan_rows(inputs, CostModel(), shorter)[0], 98, 3);
}

TEST(BatchPlanner, FinishesAPromptThatFits) {
  const std::vector<PlanInput> inputs{prompt(70)};
  EXPECT_EQ(plan_rows(inputs, CostModel(), options())[0], 70u);
}

TEST(BatchPlanner, ComputesPromptsInTheOrderOfTheirRanks) {
  const std::vector<PlanInput> inputs{decoder(), prompt(900, 2), prompt(500, 0), prompt(900, 1)};
  const auto rows = plan_rows(inputs, CostModel(), options());
  EXPECT_GE(rows[2], 20u);
  EXPECT_EQ(rows[1] + rows[3], 0u);
}

TEST(BatchPlanner, GivesWhatTheFirstLeavesToTheNext) {
  const std::vector<PlanInput> inputs{prompt(900, 1), prompt(4, 0), decoder()};
  const auto rows = plan_rows(inputs, CostModel(), options());
  EXPECT_EQ(rows[1], 4u);
  EXPECT_GT(rows[0], 0u);
}

// Its first token does not wait for the rows of others.
TEST(BatchPlanner, KeepsAStepShortThatEndsAPrompt) {
  const std::vector<PlanInput> inputs{prompt(900, 1), prompt(4, 0)};
  const auto rows = plan_rows(inputs, CostModel(), options());
  StepSize size;
  size.add(rows[0], 0);
  size.add(rows[1], 0);
  EXPECT_LE(CostModel().predict(size), milliseconds(50));
  EXPECT_GT(CostModel().predict(size), milliseconds(40));
}

TEST(BatchPlanner, GivesAnAgedPromptAPartOfEachStep) {
  std::vector<PlanInput> inputs{prompt(4000, 1), prompt(900, 0)};
  EXPECT_EQ(plan_rows(inputs, CostModel(), options())[0], 0u);
  inputs[0].aged = true;
  const auto rows = plan_rows(inputs, CostModel(), options());
  EXPECT_NEAR(rows[0], sum(rows) / 4.0, 3);
  EXPECT_LE(rows[1], 900u);
}

// Short ones from others come without end.
TEST(BatchPlanner, FinishesAnAgedPromptHoweverManyShortOnesCome) {
  for (const std::size_t decoders : {std::size_t{0}, std::size_t{40}}) {
    std::uint32_t pending = 1000;
    int steps = 0;
    for (; pending > 0; ++steps) {
      std::vector<PlanInput> inputs(decoders, decoder());
      inputs.push_back({pending, 1000 - pending, false, 1, true});
      inputs.push_back(prompt(300, 0));
      pending -= plan_rows(inputs, CostModel(), options())[decoders];
      ASSERT_LE(steps, 125);
    }
  }
}

TEST(BatchPlanner, HoldsItsBoundsForRandomInputs) {
  Random random(3);
  for (int round = 0; round < 2000; ++round) {
    PlanOptions limits_of_round = options();
    limits_of_round.rows_max = static_cast<std::uint32_t>(1 + random.below(128));
    limits_of_round.logit_rows_max = static_cast<std::uint32_t>(1 + random.below(16));
    std::vector<PlanInput> inputs(1 + random.below(20));
    for (PlanInput& input : inputs) {
      input = random.chance(0.5) ? decoder(random.below(3000))
                                 : prompt(static_cast<std::uint32_t>(1 + random.below(900)),
                                          static_cast<std::uint32_t>(random.below(3)));
      input.aged = random.chance(0.3);
    }
    const auto rows = plan_rows(inputs, CostModel(), limits_of_round);
    std::uint32_t finishing = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      ASSERT_LE(rows[i], inputs[i].pending);
      if (rows[i] == inputs[i].pending) ++finishing;
    }
    ASSERT_LE(sum(rows), limits_of_round.rows_max);
    ASSERT_LE(finishing, limits_of_round.logit_rows_max);
    ASSERT_GE(sum(rows), 1u);
  }
}

PlanOptions exact(StepKind kind) {
  PlanOptions exact_options = options();
  exact_options.kind = kind;
  return exact_options;
}

TEST(BatchPlanner, KeepsDecodersAndPromptsApartInExactSteps) {
  const std::vector<PlanInput> inputs{decoder(), prompt(300), decoder(), prompt(300)};
  EXPECT_EQ(plan_rows(inputs, CostModel(), exact(StepKind::kExactDecode)),
            (std::vector<std::uint32_t>{1, 0, 1, 0}));
  const auto prefill = plan_rows(inputs, CostModel(), exact(StepKind::kExactPrefill));
  EXPECT_GE(prefill[1], 2u);
  EXPECT_EQ(prefill[0] + prefill[2] + prefill[3], 0u);
}

TEST(BatchPlanner, TakesWhatThereIsInExactSteps) {
  const std::vector<PlanInput> prompts{prompt(30)};
  EXPECT_EQ(plan_rows(prompts, CostModel(), exact(StepKind::kExactDecode))[0], 30u);
  const std::vector<PlanInput> decoders{decoder()};
  EXPECT_EQ(plan_rows(decoders, CostModel(), exact(StepKind::kExactPrefill))[0], 1u);
}

TEST(BatchPlanner, NeverComputesALoneRowOfALongerPromptInExactSteps) {
  for (std::uint32_t rows_max = kExactRowsMin; rows_max < 70; ++rows_max) {
    for (std::uint32_t length = 2; length < 150; ++length) {
      PlanOptions small = exact(StepKind::kExactPrefill);
      small.rows_max = rows_max;
      std::uint32_t pending = length;
      while (pending > 0) {
        const std::vector<PlanInput> inputs{prompt(pending)};
        const std::uint32_t rows = plan_rows(inputs, CostModel(), small)[0];
        ASSERT_GE(rows, 2u) << length << " in pieces of " << rows_max;
        ASSERT_LE(rows, rows_max);
        pending -= rows;
      }
    }
  }
}

// Planner and cost model together on a machine whose rows are dearer in small steps: streams
// decode, prompts come now and then. While somebody decodes, steps use the objective and keep to
// it.
TEST(BatchPlanner, UsesTheObjectiveAndKeepsToIt) {
  Random random(21);
  CostModel cost;
  const auto machine = [&](const StepSize& size) {
    const double many = std::clamp((size.rows - 8.0) / 56, 0.0, 1.0);
    const double seconds = 4e-3 + (2.2e-3 - 0.9e-3 * many) * size.rows +
                           0.25e-6 * static_cast<double>(size.cells_read);
    return from_seconds(seconds * (0.97 + 0.06 * random.uniform()));
  };
  const auto step = [&](const std::vector<PlanInput>& inputs, std::vector<std::uint32_t>& rows) {
    rows = plan_rows(inputs, cost, options());
    StepSize size;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] > 0) size.add(rows[i], inputs[i].computed);
    }
    const Duration took = machine(size);
    cost.learn(size, took);
    return took;
  };
  double used = 0;
  int counted = 0;
  std::vector<std::uint32_t> rows;
  for (int round = 0; round < 20; ++round) {
    std::vector<PlanInput> inputs(1 + random.below(6), decoder(random.below(1500)));
    for (int i = 0; i < 150; ++i) step(inputs, rows);
    const std::uint32_t length = 500 + static_cast<std::uint32_t>(random.below(2500));
    inputs.push_back(prompt(length));
    while (inputs.back().pending > 0) {
      const Duration took = step(inputs, rows);
      inputs.back().pending -= rows.back();
      inputs.back().computed += rows.back();
      if (round < 2 || inputs.back().pending == 0) continue;
      ASSERT_LE(took, options().itl_objective * 6 / 5) << "round " << round;
      used += to_seconds(took) / to_seconds(options().itl_objective);
      ++counted;
    }
  }
  EXPECT_GE(used / counted, 0.93);
}

// A pool whose rows look back at 1,000 cells each, where a row costs 2.8 ms and, from 64 rows on,
// 1.6 ms: 34 rows fill the objective, and 64 take 105 ms.
class TiledSteps : public testing::Test {
 protected:
  TiledSteps() {
    cost_.set_pool(1000);
    Random random(9);
    for (int i = 0; i < 300; ++i) {
      const auto rows = static_cast<std::uint32_t>(1 + random.below(160));
      const StepSize size{rows, rows * random.below(1000)};
      const double cell = rows < limits::kRowTile ? 2e-6 : 0.8e-6;
      cost_.learn(size,
                  from_seconds(3e-3 + 0.8e-3 * rows + cell * static_cast<double>(size.cells_read)));
    }
  }
  std::uint32_t planned(std::uint32_t pending, Duration objective) const {
    const std::vector<PlanInput> inputs{
        decoder(1000), decoder(1000), {pending, 1000, false}, decoder(1000), decoder(1000)};
    PlanOptions wanted = options();
    wanted.itl_objective = objective;
    return sum(plan_rows(inputs, cost_, wanted));
  }

  CostModel cost_;
};

TEST_F(TiledSteps, FillTheFirstTileWhereThatTakesLittleLonger) {
  EXPECT_EQ(planned(500, milliseconds(100)), limits::kRowTile);
}

TEST_F(TiledSteps, StayBelowItWhereItTakesMuchLonger) {
  const std::uint32_t rows = planned(500, milliseconds(60));
  EXPECT_LT(rows, 32u);
  EXPECT_GT(rows, 8u);
}

TEST_F(TiledSteps, AreNoLongerForAPromptThatDoesNotFillIt) {
  EXPECT_LT(planned(50, milliseconds(100)), 44u);
}

}  // namespace
}  // namespace zerohop

#include "engine/draft_planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace zerohop {
namespace {

using std::chrono::milliseconds;

// A machine that was watched for a while.
CostModel machine(double pass_ms, double row_ms) {
  CostModel cost;
  for (int round = 0; round < 200; ++round) {
    for (const std::uint32_t rows : {1u, 2u, 4u, 8u, 16u, 32u}) {
      cost.learn({rows, 0}, from_seconds((pass_ms + row_ms * rows) * 1e-3));
    }
  }
  return cost;
}

// Chances of a proposal each of whose tokens is taken with that chance.
std::vector<double> gains(double chance, std::size_t count) {
  std::vector<double> all;
  double gain = 1;
  for (std::size_t i = 0; i < count; ++i) all.push_back(gain *= chance);
  return all;
}

DraftLoad load_of(std::uint32_t answers) {
  DraftLoad load;
  load.step.rows = load.answers = answers;
  load.rows_max = 32;
  load.time_max = milliseconds(1'000);
  load.answers_max = 8;
  return load;
}

std::uint32_t sum(const std::vector<std::uint32_t>& drafts) {
  return std::accumulate(drafts.begin(), drafts.end(), 0u);
}

TEST(PlanDrafts, TakesAllOfAGoodProposalWhereRowsCostNothing) {
  const CostModel cost = machine(10, 0.01);
  const std::vector<double> good = gains(0.95, 16);
  const std::vector<DraftOffer> offers{{good, 0}};
  EXPECT_EQ(plan_drafts(offers, load_of(1), cost, DraftRule::kWherePays),
            std::vector<std::uint32_t>{16});
}

TEST(PlanDrafts, TakesNothingWhereEveryRowCostsTheSame) {
  const CostModel cost = machine(0, 10);
  const std::vector<double> good = gains(0.95, 16);
  const std::vector<DraftOffer> offers{{good, 0}};
  EXPECT_EQ(sum(plan_drafts(offers, load_of(1), cost, DraftRule::kWherePays)), 0u);
}

TEST(PlanDrafts, TakesMoreOfWhatIsLikelier) {
  const CostModel cost = machine(10, 2);
  std::uint32_t before = 0;
  for (const double chance : {0.05, 0.5, 0.8, 0.97}) {
    const std::vector<double> all = gains(chance, 16);
    const std::vector<DraftOffer> offers{{all, 0}};
    const std::uint32_t drafted = sum(plan_drafts(offers, load_of(1), cost, DraftRule::kWherePays));
    EXPECT_GE(drafted, before) << chance;
    before = drafted;
    if (chance < 0.1) {
      EXPECT_EQ(drafted, 0u);
    }
  }
  EXPECT_GT(before, 4u);
}

TEST(PlanDrafts, GivesTheRowsToTheBestProposals) {
  const CostModel cost = machine(10, 2);
  const std::vector<double> good = gains(0.95, 16);
  const std::vector<double> bad = gains(0.1, 16);
  const std::vector<DraftOffer> offers{{bad, 0}, {}, {good, 0}};
  const auto drafts = plan_drafts(offers, load_of(3), cost, DraftRule::kWherePays);
  EXPECT_EQ(drafts[0], 0u);
  EXPECT_EQ(drafts[1], 0u);
  EXPECT_GT(drafts[2], 0u);
}

TEST(PlanDrafts, TakesNothingBesideAsManyAnswersAsFillTheMachine) {
  const CostModel cost = machine(10, 0.01);
  const std::vector<double> good = gains(0.95, 16);
  for (std::uint32_t answers = 6; answers <= 9; ++answers) {
    const std::vector<DraftOffer> offers(answers, DraftOffer{good, 0});
    const auto drafts = plan_drafts(offers, load_of(answers), cost, DraftRule::kWherePays);
    EXPECT_EQ(sum(drafts) > 0, answers < 8) << answers;
  }
}

TEST(PlanDrafts, StaysWithinTheRowsAndTheTime) {
  const CostModel cost = machine(10, 0.5);
  const std::vector<double> good = gains(0.99, 16);
  const std::vector<DraftOffer> offers{{good, 0}, {good, 0}, {good, 0}};
  DraftLoad load = load_of(3);
  load.rows_max = 7;
  EXPECT_EQ(sum(plan_drafts(offers, load, cost, DraftRule::kWherePays)), 7u);
  EXPECT_EQ(sum(plan_drafts(offers, load, cost, DraftRule::kAlways)), 7u);
  load.rows_max = 32;
  load.time_max = milliseconds(14);
  const std::uint32_t drafted = sum(plan_drafts(offers, load, cost, DraftRule::kWherePays));
  EXPECT_GT(drafted, 0u);
  EXPECT_LE(cost.predict({3 + drafted, 0}), milliseconds(14));
  load.time_max = Duration::zero();
  EXPECT_EQ(sum(plan_drafts(offers, load, cost, DraftRule::kWherePays)), 0u);
}

TEST(PlanDrafts, CountsWhatFarRowsReadOfTheCache) {
  CostModel cost;
  for (int round = 0; round < 300; ++round) {
    for (const std::uint32_t rows : {1u, 2u, 4u, 8u, 16u}) {
      for (const std::uint64_t cells : {0u, 100'000u}) {
        const double seconds = 10e-3 + 0.2e-3 * rows + 1e-6 * static_cast<double>(cells * rows);
        cost.learn({rows, cells * rows}, from_seconds(seconds));
      }
    }
  }
  const std::vector<double> fair = gains(0.8, 16);
  const std::vector<DraftOffer> near{{fair, 10}};
  const std::vector<DraftOffer> far{{fair, 100'000}};
  DraftLoad load = load_of(1);
  const std::uint32_t many = sum(plan_drafts(near, load, cost, DraftRule::kWherePays));
  load.step.cells_read = 100'000;
  EXPECT_LT(sum(plan_drafts(far, load, cost, DraftRule::kWherePays)), many);
}

TEST(PlanDrafts, SharesTheRoomWhereAllIsToBeTaken) {
  const CostModel cost;
  const std::vector<double> poor = gains(0.01, 4);
  const std::vector<double> good = gains(0.9, 16);
  const std::vector<DraftOffer> offers{{poor, 0}, {good, 0}};
  DraftLoad load = load_of(20);
  load.rows_max = 12;
  const auto drafts = plan_drafts(offers, load, cost, DraftRule::kAlways);
  EXPECT_EQ(drafts, (std::vector<std::uint32_t>{4, 8}));
}

}  // namespace
}  // namespace zerohop

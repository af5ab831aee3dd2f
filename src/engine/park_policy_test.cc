#include "engine/park_policy.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace zerohop {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const TimePoint kNow{std::chrono::hours(1)};

ParkCandidate candidate(std::uint64_t tenant, double counter, Duration ran,
                        PriorityClass priority = PriorityClass::kStandard) {
  ParkCandidate one;
  one.tenant = TenantId(tenant);
  one.counter = counter;
  one.started_at = one.arrived_at = kNow - ran;
  one.priority = priority;
  return one;
}

ParkCandidate paused(ParkCandidate one, Duration since) {
  one.paused_since = kNow - since;
  return one;
}

ParkWaiter waiter(std::uint64_t tenant, double counter,
                  PriorityClass priority = PriorityClass::kStandard) {
  return {priority, TenantId(tenant), counter};
}

TEST(ParkForCells, TakesTheLowestClassThenTheHighestCounterThenTheLatest) {
  std::vector<ParkCandidate> running{
      candidate(1, 10, seconds(9), PriorityClass::kPriority),
      candidate(2, 900, seconds(8)),
      candidate(3, 500, seconds(7), PriorityClass::kBatch),
      candidate(4, 800, seconds(6), PriorityClass::kBatch),
      candidate(4, 800, seconds(5), PriorityClass::kBatch),
  };
  for (const std::size_t expected : {4u, 3u, 2u, 1u}) {
    EXPECT_EQ(park_for_cells(running), (ParkChoice{expected, ParkReason::kCells}));
    running.pop_back();
  }
}

TEST(ParkForCells, NeverTakesTheOldestOfTheHighestClass) {
  const std::vector<ParkCandidate> alone{candidate(1, 1e9, seconds(9))};
  EXPECT_FALSE(park_for_cells(alone).has_value());
  EXPECT_FALSE(park_for_cells({}).has_value());
  const std::vector<ParkCandidate> two{candidate(1, 1e9, seconds(9)), candidate(2, 1, seconds(5))};
  EXPECT_EQ(park_for_cells(two)->index, 1u);
  // Also where its client has stopped reading: nobody else could be relied on to finish.
  const std::vector<ParkCandidate> slow{paused(candidate(1, 1e9, seconds(9)), seconds(8)),
                                        candidate(2, 1, seconds(5))};
  EXPECT_EQ(park_for_cells(slow)->index, 1u);
}

TEST(ParkForCells, TakesAPausedOneFirst) {
  const std::vector<ParkCandidate> running{candidate(1, 5, seconds(9)),
                                           paused(candidate(2, 1, seconds(8)), milliseconds(1)),
                                           candidate(3, 900, seconds(7), PriorityClass::kBatch)};
  EXPECT_EQ(park_for_cells(running)->index, 1u);
}

TEST(ParkForCells, LeavesSomebodyHoweverOftenItIsAsked) {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<ParkCandidate> running(1 + random.below(12));
    for (ParkCandidate& one : running) {
      one =
          candidate(random.below(4), static_cast<double>(random.below(1000)),
                    milliseconds(random.below(5000)), static_cast<PriorityClass>(random.below(3)));
      if (random.chance(0.3)) one.paused_since = kNow - milliseconds(random.below(3000));
    }
    while (const auto choice = park_for_cells(running)) {
      ASSERT_LT(choice->index, running.size());
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(choice->index));
    }
    ASSERT_EQ(running.size(), 1u);
  }
}

TEST(ParkForFairness, TakesFromWhoeverIsAheadByMoreThanTheQuantum) {
  const std::vector<ParkCandidate> running{candidate(1, 1000, seconds(9)),
                                           candidate(2, 1500, seconds(8)),
                                           candidate(2, 1500, seconds(7))};
  const ParkOptions options;
  EXPECT_EQ(park_for_fairness(running, waiter(3, 700), options, kNow),
            (ParkChoice{2, ParkReason::kFairness}));
  EXPECT_EQ(park_for_fairness(running, waiter(3, 1500 - options.quantum - 1), options, kNow)->index,
            2u);
  EXPECT_FALSE(
      park_for_fairness(running, waiter(3, 1500 - options.quantum), options, kNow).has_value());
}

TEST(ParkForFairness, LetsEverybodyRunForAWhile) {
  const ParkOptions options;
  std::vector<ParkCandidate> running{candidate(1, 1e6, options.run_min - Duration(1)),
                                     candidate(2, 5e5, options.run_min)};
  EXPECT_EQ(park_for_fairness(running, waiter(3, 0), options, kNow)->index, 1u);
  running.pop_back();
  EXPECT_FALSE(park_for_fairness(running, waiter(3, 0), options, kNow).has_value());
}

TEST(ParkForFairness, FollowsTheClassesAndNeverTakesFromAHigherOne) {
  const std::vector<ParkCandidate> running{candidate(1, 1e6, seconds(9), PriorityClass::kPriority),
                                           candidate(2, 1, seconds(8), PriorityClass::kBatch),
                                           candidate(3, 9, seconds(7))};
  const ParkOptions options;
  EXPECT_EQ(
      park_for_fairness(running, waiter(4, 5, PriorityClass::kPriority), options, kNow)->index, 1u);
  EXPECT_EQ(park_for_fairness(running, waiter(4, 5), options, kNow)->index, 1u);
  EXPECT_FALSE(
      park_for_fairness(running, waiter(4, 5, PriorityClass::kBatch), options, kNow).has_value());
}

TEST(ParkForFairness, NeverTakesFromTheSameTenantInOneClass) {
  const std::vector<ParkCandidate> running{candidate(3, 1e6, seconds(9))};
  EXPECT_FALSE(park_for_fairness(running, waiter(3, 0), ParkOptions{}, kNow).has_value());
}

TEST(ParkSlowReader, TakesTheOneThatHasBeenPausedLongest) {
  const Duration most = milliseconds(500);
  const std::vector<ParkCandidate> running{candidate(1, 1, seconds(9)),
                                           paused(candidate(2, 1, seconds(9)), most),
                                           paused(candidate(3, 1, seconds(9)), most * 2),
                                           paused(candidate(4, 1, seconds(9)), most - Duration(1))};
  EXPECT_EQ(park_slow_reader(running, most, kNow), (ParkChoice{2, ParkReason::kSlowReader}));
  EXPECT_FALSE(park_slow_reader(std::span(running).last(1), most, kNow).has_value());
}

}  // namespace
}  // namespace zerohop

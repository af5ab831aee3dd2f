#include "engine/concurrency_control.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace zerohop {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kObjective{100};
constexpr milliseconds kDwell{500};

// A machine on virtual time on which a step takes `base` and `each` for every sequence, and which
// always has more requests than places.
class Machine {
 public:
  explicit Machine(std::uint32_t floor = 2, std::uint32_t ceiling = 32)
      : control_({floor, ceiling, kDwell}) {}

  /// Runs for `time`; the lowest and highest number seen.
  std::pair<std::uint32_t, std::uint32_t> run(Duration time) {
    std::pair<std::uint32_t, std::uint32_t> seen{control_.limit(), control_.limit()};
    const TimePoint end = now_ + time;
    while (now_ < end) {
      const std::uint32_t running = std::min(control_.limit(), wanted);
      const Duration step = base + each * running;
      now_ += std::max<Duration>(step, milliseconds(1));
      control_.update({step, kObjective, fragmentation, running, wanted > running}, now_);
      seen = {std::min(seen.first, control_.limit()), std::max(seen.second, control_.limit())};
    }
    return seen;
  }
  std::uint32_t limit() const { return control_.limit(); }

  Duration base{milliseconds(10)};
  Duration each{milliseconds(1)};
  double fragmentation = 0;
  std::uint32_t wanted = 1000;

 private:
  ConcurrencyControl control_;
  TimePoint now_{};
};

TEST(ConcurrencyControl, StaysAtTheCeilingOnAQuickMachine) {
  Machine machine;
  EXPECT_EQ(machine.run(std::chrono::seconds(60)), std::pair(32u, 32u));
}

TEST(ConcurrencyControl, ComesToRestWhereStepsKeepTheObjective) {
  Machine machine;
  machine.each = milliseconds(9);
  machine.run(std::chrono::seconds(20));
  // Ten sequences take 100 ms. After a fall it may stand below; it must not move any more.
  const auto [low, high] = machine.run(std::chrono::seconds(60));
  EXPECT_EQ(low, high) << "it goes back and forth";
  EXPECT_LE(high, 10u);
  EXPECT_GE(low, 6u) << "more than a third of the machine lies idle";
}

TEST(ConcurrencyControl, FollowsAMachineThatBecomesSlowAndQuickAgain) {
  Machine machine;
  machine.each = milliseconds(20);
  machine.run(std::chrono::seconds(20));
  EXPECT_LE(machine.limit(), 4u);
  machine.each = milliseconds(2);
  machine.run(std::chrono::seconds(60));
  EXPECT_EQ(machine.limit(), 32u);
}

TEST(ConcurrencyControl, NeverLeavesItsBounds) {
  Machine machine(3, 8);
  machine.base = milliseconds(1000);
  EXPECT_EQ(machine.run(std::chrono::seconds(60)).first, 3u);
  machine.base = milliseconds(1);
  machine.each = Duration(1);
  EXPECT_EQ(machine.run(std::chrono::seconds(60)).second, 8u);
}

TEST(ConcurrencyControl, TakesAPeakForNoTrend) {
  Machine machine;
  for (int i = 0; i < 20; ++i) {
    machine.base = milliseconds(400);
    machine.run(milliseconds(400));  // one step, shorter than the dwell
    machine.base = milliseconds(10);
    machine.run(milliseconds(100));
  }
  EXPECT_EQ(machine.limit(), 32u);
}

TEST(ConcurrencyControl, FallsWhileCellsAreScattered) {
  Machine machine;
  machine.fragmentation = 0.5;
  machine.run(std::chrono::seconds(30));
  EXPECT_EQ(machine.limit(), 2u);
  machine.fragmentation = 0.37;  // between the two marks
  machine.run(std::chrono::seconds(30));
  EXPECT_EQ(machine.limit(), 2u);
  machine.fragmentation = 0.3;
  machine.run(std::chrono::seconds(30));
  EXPECT_GT(machine.limit(), 20u);
}

TEST(ConcurrencyControl, GrowsOnlyForThoseWhoWait) {
  Machine machine;
  machine.fragmentation = 0.5;
  machine.run(std::chrono::seconds(30));
  machine.fragmentation = 0;
  machine.wanted = 2;
  machine.run(std::chrono::seconds(30));
  EXPECT_EQ(machine.limit(), 2u);
  machine.wanted = 3;
  machine.run(std::chrono::seconds(30));
  EXPECT_EQ(machine.limit(), 3u);
}

TEST(ConcurrencyControl, WaitsWhenNothingRuns) {
  ConcurrencyControl control({1, 4, kDwell});
  for (int i = 0; i < 100; ++i) {
    control.update({std::chrono::seconds(1), kObjective, 1, 0, true},
                   TimePoint(std::chrono::seconds(i)));
  }
  EXPECT_EQ(control.limit(), 4u);
}

}  // namespace
}  // namespace zerohop

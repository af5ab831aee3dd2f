#include "engine/thread_governor.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace zerohop {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A machine of two cores on virtual time. Step sizes are as long as their slowness here.
class Machine {
 public:
  explicit Machine(std::uint32_t cores) : cores_(cores), governor_(cores) {}

  // One neighbour takes a core and makes threads that wait for each other wait long.
  void disturb(bool disturbed) { disturbed_ = disturbed; }

  void step() {
    const ThreadGovernor::Choice choice = governor_.choose(now_);
    double takes = slowness(governor_.threads(choice.level)) * (0.95 + 0.1 * random_.uniform());
    const bool stops = choice.limit && takes > *choice.limit;
    if (stops) takes = *choice.limit;
    now_ += from_seconds(takes * kStepSeconds);
    stops ? governor_.stopped(choice, now_) : governor_.finished(choice, takes, now_);
    if (!stops) ++done_;
  }
  // Steps that were finished in that time.
  int run(Duration time) {
    const TimePoint end = now_ + time;
    const int before = done_;
    while (now_ < end) step();
    return done_ - before;
  }

  std::uint32_t threads() const { return governor_.threads(); }
  TimePoint now() const { return now_; }

 private:
  static constexpr double kStepSeconds = 0.05;

  double slowness(std::uint32_t threads) const {
    const double alone = static_cast<double>(cores_) / threads;
    return disturbed_ && threads == cores_ ? 20 * alone : alone;
  }

  std::uint32_t cores_;
  ThreadGovernor governor_;
  Random random_{3};
  TimePoint now_{};
  bool disturbed_ = false;
  int done_ = 0;
};

TEST(ThreadGovernor, UsesAllThreadsWhereNobodyDisturbs) {
  Machine machine(2);
  EXPECT_GE(machine.run(seconds(60)), 1140);  // of 1,200
  EXPECT_EQ(machine.threads(), 2u);
}

TEST(ThreadGovernor, GivesWayToANeighbourWithinASecondAndComesBackWithinTwo) {
  Machine machine(2);
  machine.run(seconds(5));
  machine.disturb(true);
  machine.run(seconds(1));
  EXPECT_EQ(machine.threads(), 1u);
  // One thread does ten steps a second; probes cost some of that.
  const int under = machine.run(seconds(20));
  EXPECT_GE(under, 185);
  machine.disturb(false);
  machine.run(seconds(2));
  EXPECT_EQ(machine.threads(), 2u);
  EXPECT_GE(machine.run(seconds(20)), 380);
}

TEST(ThreadGovernor, TakesAwayOnlyWhatIsNeededWhereThereAreManyCores) {
  Machine machine(16);
  machine.run(seconds(5));
  machine.disturb(true);
  machine.run(seconds(10));
  EXPECT_EQ(machine.threads(), 15u);
  machine.disturb(false);
  machine.run(seconds(10));
  EXPECT_EQ(machine.threads(), 16u);
}

// It is long by itself, so it is stopped once, and the way back is found.
TEST(ThreadGovernor, ALongStepIsNotStoppedAtEveryLevel) {
  ThreadGovernor governor(16);
  TimePoint now{};
  int stops = 0;
  double once = 6;
  for (int i = 0; i < 400; ++i) {
    const ThreadGovernor::Choice choice = governor.choose(now);
    const double alone = 16.0 / governor.threads(choice.level);
    const double takes = i >= 100 && once > 0 ? once * alone : alone;
    now += milliseconds(50);
    if (choice.limit && takes > *choice.limit) {
      if (!choice.probe) ++stops;
      governor.stopped(choice, now);
    } else {
      if (i >= 100) once = 0;
      governor.finished(choice, takes, now);
    }
  }
  EXPECT_LE(stops, 1);
  EXPECT_EQ(governor.threads(), 16u);
}

// Steps that become slow for another reason (colder caches, larger contexts) are as slow with fewer
// threads: those are tried seldom, and given up.
TEST(ThreadGovernor, StaysWhereFewerThreadsDoNotHelp) {
  ThreadGovernor governor(2);
  TimePoint now{};
  int with_one = 0;
  for (int i = 0; i < 4000; ++i) {
    const ThreadGovernor::Choice choice = governor.choose(now);
    const double alone = 2.0 / governor.threads(choice.level);
    const double takes = i < 100 ? alone : 3 * alone;
    now += milliseconds(static_cast<int>(50 * takes));
    if (choice.limit && takes > *choice.limit) {
      governor.stopped(choice, now);
    } else {
      governor.finished(choice, takes, now);
    }
    if (governor.threads(choice.level) == 1) ++with_one;
  }
  EXPECT_EQ(governor.threads(), 2u);
  EXPECT_LT(with_one, 400);
}

TEST(ThreadGovernor, NeverStopsAStepThatOneThreadComputes) {
  ThreadGovernor governor(1);
  TimePoint now{};
  for (int i = 0; i < 200; ++i) {
    const ThreadGovernor::Choice choice = governor.choose(now);
    ASSERT_FALSE(choice.limit);
    ASSERT_EQ(governor.threads(choice.level), 1u);
    now += milliseconds(50);
    governor.finished(choice, i % 10 == 0 ? 30 : 1, now);
  }
}

// The first passes read weights from the disk, and shapes are not known.
TEST(ThreadGovernor, StopsNothingBeforeItKnowsAnything) {
  ThreadGovernor governor(2);
  TimePoint now{};
  for (int i = 0; i < 20; ++i) {
    const ThreadGovernor::Choice choice = governor.choose(now);
    EXPECT_FALSE(choice.limit);
    now += milliseconds(500);
    governor.finished(choice, 100.0 / (1 + i), now);
  }
  EXPECT_EQ(governor.threads(), 2u);
}

}  // namespace
}  // namespace zerohop

#include "base/clock.h"

#include <gtest/gtest.h>

#include <chrono>

namespace zerohop {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(VirtualClock, MovesOnlyWhenWound) {
  VirtualClock clock;
  const TimePoint start = clock.now();
  EXPECT_EQ(clock.now(), start);
  clock.advance(milliseconds(1'500));
  EXPECT_EQ(clock.now() - start, milliseconds(1'500));
}

TEST(VirtualClock, KeepsItsWallTimeInStep) {
  VirtualClock clock;
  const auto new_year = std::chrono::sys_days(std::chrono::year(2026) / 1 / 1);
  EXPECT_EQ(clock.wall(), WallTime(new_year));
  clock.advance(seconds(90));
  EXPECT_EQ(clock.wall() - WallTime(new_year), seconds(90));
}

TEST(SteadyClock, NeverGoesBack) {
  const SteadyClock clock;
  TimePoint last = clock.now();
  for (int i = 0; i < 1'000; ++i) {
    const TimePoint now = clock.now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(SteadyClock, TellsTheYearOfPeople) {
  EXPECT_GT(SteadyClock().wall(), WallTime(std::chrono::sys_days(std::chrono::year(2024) / 1 / 1)));
}

TEST(Duration, ConvertsToAndFromNumbers) {
  EXPECT_DOUBLE_EQ(to_milliseconds(Duration(1'500'000)), 1.5);
  EXPECT_DOUBLE_EQ(to_seconds(milliseconds(250)), 0.25);
  EXPECT_EQ(from_seconds(0.25), milliseconds(250));
  EXPECT_EQ(from_seconds(to_seconds(seconds(3))), seconds(3));
}

}  // namespace
}  // namespace zerohop

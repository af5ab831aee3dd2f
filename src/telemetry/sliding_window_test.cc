#include "telemetry/sliding_window.h"

#include <gtest/gtest.h>

#include <cmath>

namespace zerohop {
namespace {

using std::chrono::seconds;

TEST(SlidingMax, ForgetsWhatIsOlderThanAMinute) {
  SlidingMax window;
  TimePoint now = TimePoint() + seconds(1'000);
  EXPECT_TRUE(std::isnan(window.read(now)));
  window.observe(7, now);
  window.observe(3, now);
  now += seconds(30);
  window.observe(5, now);
  EXPECT_EQ(window.read(now), 7);
  EXPECT_EQ(window.read(now + seconds(29)), 7);
  EXPECT_EQ(window.read(now + seconds(31)), 5);
  EXPECT_TRUE(std::isnan(window.read(now + seconds(61))));
}

TEST(SlidingMax, BeginsASliceAnewWhenItsTurnComesAgain) {
  SlidingMax window;
  const TimePoint now = TimePoint() + seconds(1'000);
  window.observe(9, now);
  window.observe(1, now + seconds(60));
  EXPECT_EQ(window.read(now + seconds(60)), 1);
}

TEST(SlidingMean, IsOfTheWindowOnly) {
  SlidingMean window(seconds(60));
  const TimePoint now = TimePoint() + seconds(1'000);
  window.observe(1, now);
  window.observe(0, now);
  window.observe(0, now + seconds(40));
  window.observe(0, now + seconds(40));
  EXPECT_EQ(window.read(now + seconds(40)), 0.25);
  EXPECT_EQ(window.read(now + seconds(70)), 0);
  EXPECT_TRUE(std::isnan(window.read(now + seconds(200))));
}

TEST(SlidingQuantile, IsFivePercentPreciseAndNeverTooLow) {
  SlidingQuantile window;
  const TimePoint now = TimePoint() + seconds(1'000);
  for (int i = 1; i <= 1'000; ++i) window.observe(i, now);
  for (const double share : {0.01, 0.5, 0.95, 0.99, 1.0}) {
    const double exact = share * 1'000;
    EXPECT_GE(window.read(share, now), exact * 0.999999) << share;
    EXPECT_LE(window.read(share, now), exact * 1.045) << share;
  }
}

TEST(SlidingQuantile, KeepsZeroAndBoundsTheLargest) {
  SlidingQuantile window;
  const TimePoint now = TimePoint() + seconds(1'000);
  for (int i = 0; i < 95; ++i) window.observe(0, now);
  EXPECT_EQ(window.read(0.95, now), 0);
  for (int i = 0; i < 95; ++i) window.observe(1e300, now);
  EXPECT_GT(window.read(0.95, now), 1e6);
  EXPECT_TRUE(std::isfinite(window.read(0.95, now)));
  window.observe(-1, now);
  window.observe(std::nan(""), now);
  EXPECT_EQ(window.read(0.4, now), 0);
}

TEST(SlidingQuantile, ForgetsWhatIsOlderThanAMinute) {
  SlidingQuantile window;
  const TimePoint now = TimePoint() + seconds(1'000);
  window.observe(100, now);
  window.observe(0.5, now + seconds(50));
  EXPECT_GE(window.read(1, now + seconds(50)), 100);
  EXPECT_LT(window.read(1, now + seconds(80)), 0.53);
  EXPECT_TRUE(std::isnan(window.read(0.95, now + seconds(200))));
}

}  // namespace
}  // namespace zerohop

#include "app/otlp_pacing.h"

#include <gtest/gtest.h>

#include <string>

namespace zerohop {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr TimePoint kNow{Duration(seconds(1'000))};

OtlpPacing pacing() { return OtlpPacing({.interval = seconds(10), .seed = 3}); }

TEST(OtlpPacing, IsDueEveryInterval) {
  OtlpPacing pace = pacing();
  pace.succeeded(kNow);
  EXPECT_EQ(pace.due(), kNow + seconds(10));
  pace.hurry(kNow + seconds(1));
  EXPECT_EQ(pace.due(), kNow + seconds(1));
}

TEST(OtlpPacing, WaitsTwiceAsLongAfterEachFailureUpToAMinute) {
  OtlpPacing pace = pacing();
  for (const int expected : {1, 2, 4, 8, 16, 32, 60, 60, 60}) {
    pace.failed(kNow, Duration::zero());
    EXPECT_GE(pace.due(), kNow + seconds(expected));
    EXPECT_LE(pace.due(), kNow + milliseconds(1'250) * expected);
  }
  pace.hurry(kNow);
  EXPECT_GE(pace.due(), kNow + seconds(60));
  pace.succeeded(kNow);
  pace.failed(kNow, Duration::zero());
  EXPECT_LE(pace.due(), kNow + seconds(2));
}

TEST(OtlpPacing, WaitsAsLongAsTheCollectorWantsButNotForEver) {
  OtlpPacing pace = pacing();
  pace.failed(kNow, seconds(30));
  EXPECT_EQ(pace.due(), kNow + seconds(30));
  pace.failed(kNow, std::chrono::hours(1'000));
  EXPECT_EQ(pace.due(), kNow + minutes(5));
}

TEST(OtlpPacing, GivesUpWhatFailsForTwoMinutesAndStaysSlow) {
  OtlpPacing pace = pacing();
  EXPECT_FALSE(pace.tried_enough(kNow));
  pace.failed(kNow, Duration::zero());
  pace.failed(kNow + seconds(119), Duration::zero());
  EXPECT_FALSE(pace.tried_enough(kNow + seconds(119)));
  pace.failed(kNow + seconds(120), Duration::zero());
  EXPECT_TRUE(pace.tried_enough(kNow + seconds(120)));
  pace.gave_up();
  EXPECT_FALSE(pace.tried_enough(kNow + seconds(120)));
  EXPECT_GE(pace.due(), kNow + seconds(124));
}

TEST(RetryAfter, IsSecondsOrADate) {
  const VirtualClock clock;  // 2026-01-01 00:00:00
  const WallTime now = clock.wall();
  EXPECT_EQ(parse_retry_after("0", now), Duration::zero());
  EXPECT_EQ(parse_retry_after("120", now), Duration(seconds(120)));
  EXPECT_EQ(parse_retry_after("Thu, 01 Jan 2026 00:00:07 GMT", now), Duration(seconds(7)));
  EXPECT_EQ(parse_retry_after("Fri, 02 Jan 2026 00:00:00 GMT", now),
            Duration(std::chrono::hours(24)));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now), Duration::zero());
  EXPECT_FALSE(parse_retry_after("Fri, 31 Dec 9999 23:59:59 GMT", now).has_value());
  EXPECT_FALSE(parse_retry_after("Mon, 01 Jan 0001 00:00:00 GMT", now).has_value());
  for (const char* bad :
       {"", "-1", "1.5", "soon", " 1", "99999999999999999999", "Thu, 01 Jan 2026 00:00:07 CET",
        "Thu, 32 Jan 2026 00:00:07 GMT", "Thu, 01 Foo 2026 00:00:07 GMT",
        "Thu, 01 Jan 2026 24:00:07 GMT", "Thu, 30 Feb 2026 00:00:07 GMT",
        "Thu, 01 Jan 2026 00:00:07 GMTx", "Thursday, 01-Jan-26 00:00:07 GMT"}) {
    EXPECT_FALSE(parse_retry_after(bad, now).has_value()) << bad;
  }
}

}  // namespace
}  // namespace zerohop

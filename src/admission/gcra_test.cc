#include "admission/gcra.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <vector>

#include "admission/limits.h"
#include "base/random.h"

namespace zerohop {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

__extension__ using Wide = __int128;

constexpr Wide kMinute = 60'000'000'000;

// A bucket as one would draw it: a level, filled by the time that has passed. Exact, in parts of a
// token of which a minute of nanoseconds makes one.
class Twin {
 public:
  Twin(std::uint64_t per_minute, TimePoint now)
      : per_minute_(per_minute), level_(Wide(per_minute) * kMinute), at_(now) {}

  void fill(TimePoint now) {
    if (now <= at_) return;
    level_ =
        std::min(Wide(per_minute_) * kMinute, level_ + Wide((now - at_).count()) * per_minute_);
    at_ = now;
  }
  bool try_take(std::uint64_t tokens) {
    if (tokens == 0) return true;
    if (level_ < Wide(tokens) * kMinute) return false;
    level_ -= Wide(tokens) * kMinute;
    return true;
  }
  void give_back(std::uint64_t tokens) {
    level_ = std::min(Wide(per_minute_) * kMinute, level_ + Wide(tokens) * kMinute);
  }
  void charge(std::uint64_t tokens) { level_ -= Wide(tokens) * kMinute; }
  std::uint64_t remaining() const {
    return level_ < 0 ? 0 : static_cast<std::uint64_t>(level_ / kMinute);
  }
  // Whether the level is so near to `tokens` that a clock which rounds to a unit may see it on the
  // other side: 3 ns of refill.
  bool close_to(std::uint64_t tokens) const {
    const Wide away = level_ - Wide(tokens) * kMinute;
    return std::max(away, -away) <= Wide(per_minute_) * 3;
  }

 private:
  Wide per_minute_;
  Wide level_;
  TimePoint at_;
};

TEST(Gcra, HoldsAMinuteAndRefillsContinuously) {
  VirtualClock clock;
  Gcra bucket(60, clock.now());
  EXPECT_TRUE(bucket.try_take(60, clock.now()));
  EXPECT_FALSE(bucket.try_take(1, clock.now()));
  EXPECT_EQ(bucket.wait_for(1, clock.now()), seconds(1));
  clock.advance(milliseconds(999));
  EXPECT_FALSE(bucket.try_take(1, clock.now()));
  clock.advance(milliseconds(1));
  EXPECT_TRUE(bucket.try_take(1, clock.now()));
  clock.advance(hours(5));
  EXPECT_EQ(bucket.remaining(clock.now()), 60u);
}

TEST(Gcra, GivesAsManySinglesAsItHolds) {
  for (const std::uint64_t limit : {1u, 7u, 11u, 60u, 997u, 100'003u}) {
    Gcra bucket(limit, TimePoint{});
    for (std::uint64_t i = 0; i < limit; ++i) {
      ASSERT_EQ(bucket.remaining(TimePoint{}), limit - i);
      ASSERT_TRUE(bucket.try_take(1, TimePoint{})) << i << " of " << limit;
    }
    EXPECT_FALSE(bucket.try_take(1, TimePoint{}));
    bucket.give_back(1);
    EXPECT_EQ(bucket.remaining(TimePoint{}), 1u);
    EXPECT_FALSE(bucket.try_take(2, TimePoint{}));
  }
}

TEST(Gcra, LetsNothingThroughAtZero) {
  Gcra bucket(0, TimePoint{});
  EXPECT_TRUE(bucket.try_take(0, TimePoint{}));
  EXPECT_FALSE(bucket.try_take(1, TimePoint{hours(1)}));
  bucket.charge(5, TimePoint{});
  EXPECT_EQ(bucket.remaining(TimePoint{hours(1)}), 0u);
  EXPECT_EQ(bucket.wait_for(1, TimePoint{}), Duration::max());
  EXPECT_EQ(bucket.full_in(TimePoint{}), Duration::zero());
}

TEST(Gcra, SaysThatMoreThanItHoldsNeverComes) {
  Gcra bucket(10, TimePoint{});
  EXPECT_FALSE(bucket.try_take(11, TimePoint{hours(1)}));
  EXPECT_EQ(bucket.wait_for(11, TimePoint{}), Duration::max());
  EXPECT_EQ(bucket.remaining(TimePoint{}), 10u);
}

TEST(Gcra, PaysADebtBeforeItGives) {
  Gcra bucket(60, TimePoint{});
  bucket.charge(90, TimePoint{});
  EXPECT_EQ(bucket.remaining(TimePoint{}), 0u);
  EXPECT_EQ(bucket.wait_for(1, TimePoint{}), seconds(31));
  EXPECT_EQ(bucket.remaining(TimePoint{seconds(31)}), 1u);
}

TEST(Gcra, GivesNothingToAClockThatGoesBackwards) {
  const TimePoint late{hours(10)};
  Gcra bucket(60, late);
  EXPECT_TRUE(bucket.try_take(60, late));
  for (const TimePoint early : {late - seconds(1), TimePoint{}, TimePoint::min()}) {
    EXPECT_FALSE(bucket.try_take(1, early));
    EXPECT_EQ(bucket.remaining(early), 0u);
    EXPECT_GT(bucket.wait_for(1, early), Duration::zero());
  }
  EXPECT_EQ(bucket.remaining(late + seconds(1)), 1u);
}

TEST(Gcra, SurvivesAbsurdNumbers) {
  constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t limit : {std::uint64_t{1}, kRateMax - 1, kRateMax, kHuge}) {
    for (const TimePoint now : {TimePoint::min(), TimePoint{}, TimePoint::max()}) {
      Gcra bucket(limit, TimePoint{});
      EXPECT_FALSE(bucket.try_take(kHuge, now));
      EXPECT_TRUE(bucket.try_take(bucket.per_minute(), now));
      EXPECT_FALSE(bucket.try_take(1, now));
      for (int i = 0; i < 100; ++i) bucket.charge(kHuge, now);
      EXPECT_EQ(bucket.remaining(now), 0u);
      EXPECT_GT(bucket.wait_for(1, now), Duration::zero());
    }
  }
}

TEST(Gcra, AgreesWithAnExactTwin) {
  Random random(20'260'101);
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t limit =
        random.below(2) == 0 ? 1 + random.below(100) : 1 + random.below(std::uint64_t{1} << 34);
    TimePoint now{seconds(random.below(1'000'000))};
    Gcra bucket(limit, now);
    Twin twin(limit, now);
    std::uint64_t out = 0;
    for (int step = 0; step < 500; ++step) {
      now += Duration(random.below(std::uint64_t{1} << random.below(37)));
      twin.fill(now);
      const std::uint64_t tokens = random.below(limit + 2);
      const std::uint64_t action = random.below(10);
      if (action < 6) {
        // Where both may be right by a unit of the clock there is nothing to compare.
        if (twin.close_to(tokens)) continue;
        const bool taken = bucket.try_take(tokens, now);
        ASSERT_EQ(taken, twin.try_take(tokens)) << limit << ' ' << tokens;
        if (taken) out += tokens;
      } else if (action < 8 && out > 0) {
        const std::uint64_t back = 1 + random.below(out);
        bucket.give_back(back);
        twin.give_back(back);
        out -= back;
      } else if (action == 8) {
        bucket.charge(tokens / 8, now);
        twin.charge(tokens / 8);
        out += tokens / 8;
      }
      const std::uint64_t expected = twin.remaining();
      if (!twin.close_to(expected) && !twin.close_to(expected + 1)) {
        ASSERT_EQ(bucket.remaining(now), expected) << limit;
      }
    }
  }
}

TEST(Gcra, WaitsExactlyUntilTheTokensAreThere) {
  Random random(7);
  for (int round = 0; round < 2'000; ++round) {
    const std::uint64_t limit = 1 + random.below(std::uint64_t{1} << random.below(40));
    const TimePoint now{Duration(random.below(std::uint64_t{1} << 58))};
    Gcra bucket(limit, TimePoint{});
    bucket.charge(random.below(2 * limit + 1), now);
    const std::uint64_t tokens = 1 + random.below(limit);
    const Duration wait = bucket.wait_for(tokens, now);
    if (wait > Duration::zero()) {
      EXPECT_LT(bucket.remaining(now), tokens);
      // Two nanoseconds: what the roundings of the clock may add.
      EXPECT_LT(bucket.remaining(now + wait - Duration(3)), tokens) << limit;
    }
    EXPECT_TRUE(bucket.try_take(tokens, now + wait)) << limit << ' ' << tokens;
  }
}

TEST(Gcra, NeverGivesMoreThanABucketAndItsRefillInAnySpan) {
  Random random(11);
  for (int round = 0; round < 50; ++round) {
    const std::uint64_t limit = 1 + random.below(5'000);
    Gcra bucket(limit, TimePoint{});
    std::vector<std::pair<TimePoint, std::uint64_t>> taken;
    TimePoint now{};
    for (int step = 0; step < 300; ++step) {
      now += Duration(random.below(5'000'000'000));
      const std::uint64_t tokens = random.below(limit) + 1;
      if (bucket.try_take(tokens, now)) taken.emplace_back(now, tokens);
    }
    for (std::size_t from = 0; from < taken.size(); ++from) {
      Wide sum = 0;
      for (std::size_t to = from; to < taken.size(); ++to) {
        sum += taken[to].second;
        const Wide span = (taken[to].first - taken[from].first).count() + 1;
        ASSERT_LE(sum * kMinute, Wide(limit) * kMinute + Wide(limit) * span);
      }
    }
  }
}

TEST(Gcra, GivesAsManyThreadsTogetherNoMoreThanItHolds) {
  constexpr std::uint64_t kLimit = 10'000;
  Gcra bucket(kLimit, TimePoint{});
  std::atomic<std::uint64_t> taken{0};
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&bucket, &taken, thread] {
      Random random(thread);
      for (int i = 0; i < 20'000; ++i) {
        const std::uint64_t tokens = 1 + random.below(7);
        if (!bucket.try_take(tokens, TimePoint{})) continue;
        if (random.below(4) == 0) {
          bucket.give_back(tokens);
        } else {
          taken += tokens;
        }
      }
      while (bucket.try_take(1, TimePoint{})) ++taken;
    });
  }
  for (std::thread& thread : threads) thread.join();
  while (bucket.try_take(1, TimePoint{})) ++taken;
  EXPECT_EQ(taken.load(), kLimit);
}

}  // namespace
}  // namespace zerohop

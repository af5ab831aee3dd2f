#include "admission/budget.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <thread>
#include <vector>

#include "admission/limits.h"
#include "base/random.h"

namespace zerohop {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::nanoseconds;
using std::chrono::sys_days;

WallTime date(int year, unsigned month, unsigned day) {
  return sys_days(std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day));
}
const WallTime kNoon = date(2026, 3, 31) + hours(12);

TEST(Budget, ReservesUpToTheLimitAndNoFurther) {
  Budget budget(BudgetPeriod::kDay);
  const CalendarTime now = calendar_at(kNoon);
  EXPECT_TRUE(budget.try_reserve(60, 100, now).has_value());
  EXPECT_FALSE(budget.try_reserve(41, 100, now).has_value());
  EXPECT_EQ(budget.remaining(100, now), 40u);
  EXPECT_TRUE(budget.try_reserve(40, 100, now).has_value());
  EXPECT_FALSE(budget.try_reserve(1, 100, now).has_value());
  EXPECT_TRUE(budget.try_reserve(0, 100, now).has_value());
}

TEST(Budget, ReturnsAtOnceWhatWasNotUsed) {
  Budget budget(BudgetPeriod::kMonth);
  const CalendarTime now = calendar_at(kNoon);
  BudgetHold hold = *budget.try_reserve(100, 100, now);
  budget.spend(hold, 30);
  EXPECT_EQ(budget.spent(now), 30u);
  EXPECT_EQ(budget.remaining(100, now), 0u);
  budget.settle(hold, 45);
  EXPECT_EQ(budget.spent(now), 45u);
  EXPECT_EQ(budget.remaining(100, now), 55u);
}

TEST(Budget, CountsWhatWasUsedBeyondTheReservation) {
  Budget budget(BudgetPeriod::kDay);
  const CalendarTime now = calendar_at(kNoon);
  BudgetHold hold = *budget.try_reserve(10, 100, now);
  budget.settle(hold, 25);
  EXPECT_EQ(budget.used(now), 25u);
  EXPECT_EQ(budget.spent(now), 25u);
}

TEST(Budget, TakesBackWhatWasCountedTooEarly) {
  Budget budget(BudgetPeriod::kDay);
  const CalendarTime now = calendar_at(kNoon);
  BudgetHold hold = *budget.try_reserve(10, 100, now);
  budget.spend(hold, 10);
  budget.settle(hold, 0);
  EXPECT_EQ(budget.used(now), 0u);
  EXPECT_EQ(budget.spent(now), 0u);
}

TEST(Budget, BeginsAnewAtMidnightUtc) {
  const WallTime midnight = date(2026, 4, 1);
  for (const BudgetPeriod period : {BudgetPeriod::kDay, BudgetPeriod::kMonth}) {
    Budget budget(period);
    EXPECT_EQ(period_end(period, kNoon), midnight);
    BudgetHold hold = *budget.try_reserve(100, 100, calendar_at(kNoon));
    EXPECT_FALSE(budget.try_reserve(1, 100, calendar_at(midnight - nanoseconds(1))).has_value());
    EXPECT_EQ(budget.remaining(100, calendar_at(midnight)), 100u);
    EXPECT_TRUE(budget.try_reserve(100, 100, calendar_at(midnight)).has_value());
    // The rest of yesterday's request does not make today's budget larger.
    budget.spend(hold, 3);
    budget.settle(hold, 7);
    EXPECT_EQ(budget.remaining(100, calendar_at(midnight)), 0u);
    EXPECT_EQ(budget.spent(calendar_at(midnight)), 0u);
  }
}

TEST(Budget, KnowsTheCalendar) {
  EXPECT_EQ(period_end(BudgetPeriod::kMonth, date(2028, 2, 29)), date(2028, 3, 1));
  EXPECT_EQ(period_end(BudgetPeriod::kMonth, date(2026, 12, 31) + hours(23)), date(2027, 1, 1));
  EXPECT_EQ(period_end(BudgetPeriod::kDay, date(2026, 12, 31)), date(2027, 1, 1));
  EXPECT_EQ(calendar_at(date(2020, 1, 1)).day, 0u);
  EXPECT_EQ(calendar_at(date(2021, 2, 1)).month, 13u);
  for (WallTime day = date(2026, 1, 1); day < date(2029, 1, 1); day += days(1)) {
    for (const BudgetPeriod period : {BudgetPeriod::kDay, BudgetPeriod::kMonth}) {
      const WallTime end = period_end(period, day);
      ASSERT_EQ(calendar_at(end - nanoseconds(1)).of(period), calendar_at(day).of(period));
      ASSERT_EQ(calendar_at(end).of(period), calendar_at(day).of(period) + 1);
    }
  }
}

TEST(Budget, TakesTimesOutsideTheCalendarAsItsEdges) {
  EXPECT_EQ(calendar_at(WallTime{}).day, 0u);
  EXPECT_EQ(calendar_at(WallTime::min()).day, 0u);
  EXPECT_EQ(calendar_at(WallTime::max()).day, kPeriodMax);
}

TEST(Budget, DoesNotOpenYesterdayAgainWhenTheClockGoesBack) {
  Budget budget(BudgetPeriod::kDay);
  const CalendarTime today = calendar_at(kNoon);
  const CalendarTime yesterday = calendar_at(kNoon - days(1));
  EXPECT_TRUE(budget.try_reserve(70, 100, today).has_value());
  EXPECT_EQ(budget.remaining(100, yesterday), 30u);
  EXPECT_FALSE(budget.try_reserve(31, 100, yesterday).has_value());
  EXPECT_TRUE(budget.try_reserve(30, 100, yesterday).has_value());
  EXPECT_FALSE(budget.try_reserve(1, 100, today).has_value());
}

TEST(Budget, SurvivesAbsurdNumbers) {
  constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
  Budget budget(BudgetPeriod::kDay);
  const CalendarTime now = calendar_at(kNoon);
  EXPECT_FALSE(budget.try_reserve(1, 0, now).has_value());
  EXPECT_FALSE(budget.try_reserve(kHuge, kHuge, now).has_value());
  BudgetHold hold = *budget.try_reserve(kBudgetMax, kHuge, now);
  budget.settle(hold, kHuge / 2);
  EXPECT_EQ(budget.remaining(kHuge, now), 0u);
  EXPECT_EQ(calendar_at(kNoon).day, budget.spent().period);
}

TEST(Budget, RestoresOnlyWhatCountsInThePresent) {
  const CalendarTime now = calendar_at(kNoon);
  for (const PeriodNumber period : {now.day - 1, now.day, now.day + 900}) {
    Budget budget(BudgetPeriod::kDay);
    budget.restore({period, 40}, now);
    EXPECT_EQ(budget.used(now), period < now.day ? 0u : 40u);
    EXPECT_EQ(budget.spent(), (Budget::Spent{now.day, period < now.day ? 0u : 40u}));
  }
}

TEST(Budget, NeverGivesThousandParallelReservationsMoreThanTheLimit) {
  constexpr std::uint64_t kLimit = 5'000;
  constexpr std::uint64_t kThreads = 8;
  Budget budget(BudgetPeriod::kDay);
  const CalendarTime now = calendar_at(kNoon);
  std::atomic<std::uint64_t> spent{0};
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&budget, &spent, now, thread] {
      Random random(thread);
      for (int request = 0; request < 1'000 / int{kThreads}; ++request) {
        const std::uint64_t amount = 1 + random.below(200);
        std::optional<BudgetHold> hold = budget.try_reserve(amount, kLimit, now);
        if (!hold) continue;
        const std::uint64_t exact = random.below(amount + 1);
        for (std::uint64_t token = 0; token < exact; ++token) budget.spend(*hold, 1);
        budget.settle(*hold, exact);
        spent += exact;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(spent.load(), kLimit);
  EXPECT_EQ(budget.used(now), spent.load());
  EXPECT_EQ(budget.spent(now), spent.load());
  // All that is left can still be had, to the last token.
  EXPECT_TRUE(budget.try_reserve(kLimit - spent.load(), kLimit, now).has_value());
  EXPECT_FALSE(budget.try_reserve(1, kLimit, now).has_value());
}

TEST(Budget, LosesNothingWhenManyThreadsMeetMidnight) {
  Budget budget(BudgetPeriod::kDay);
  const CalendarTime today = calendar_at(kNoon);
  const CalendarTime tomorrow = calendar_at(kNoon + days(1));
  std::atomic<std::uint64_t> spent_tomorrow{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&budget, &spent_tomorrow, today, tomorrow] {
      for (int i = 0; i < 2'000; ++i) {
        std::optional<BudgetHold> hold =
            budget.try_reserve(3, 40'000, i < 1'000 ? today : tomorrow);
        if (!hold) continue;
        budget.settle(*hold, 2);
        if (hold->period == tomorrow.day) spent_tomorrow += 2;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget.used(tomorrow), spent_tomorrow.load());
  EXPECT_EQ(budget.spent(tomorrow), spent_tomorrow.load());
}

}  // namespace
}  // namespace zerohop

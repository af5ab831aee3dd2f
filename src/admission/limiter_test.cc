#include "admission/limiter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <vector>

#include "admission/limiter_test_kit.h"

namespace zerohop {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

TEST_F(LimiterTest, AllowsEverythingWithoutLimits) {
  Reservation reservation = entered();
  const auto grant = reservation.claim(claim(1'000'000, 0, 1'000'000), moment());
  ASSERT_TRUE(grant.ok());
  EXPECT_EQ(grant->output_cap, 1'000'000u);
  const LimitReport report = reservation.report(moment());
  EXPECT_FALSE(report.requests || report.tokens || report.input_tokens || report.output_tokens);
}

TEST_F(LimiterTest, AllowsEverythingForAnEmptyReservation) {
  Reservation nobody;
  EXPECT_TRUE(nobody.claim(claim(1, 1, 1), moment()).ok());
  EXPECT_EQ(nobody.meter({}), nullptr);
  nobody.settle({1, 1, 1}, moment());
}

TEST_F(LimiterTest, RefusesTheRequestBehindTheLastOneOfTheMinute) {
  key.requests_per_minute = 2;
  Reservation first = entered();
  Reservation second = entered();
  const auto third = enter();
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.error().kind, LimitKind::kRequestsPerMinute);
  EXPECT_EQ(third.error().owner, LimitOwner::kKey);
  EXPECT_EQ(third.error().owner_id, "key_1");
  EXPECT_EQ(third.error().limit, 2u);
  EXPECT_EQ(third.error().remaining, 0u);
  EXPECT_EQ(third.error().retry_after, seconds(30));
  // A settled request stays counted, one that was nothing does not.
  first.settle({}, moment());
  EXPECT_FALSE(enter().ok());
  second.release();
  EXPECT_TRUE(enter().ok());
}

TEST_F(LimiterTest, CountsRequestsAtOnceUntilTheyEnd) {
  tenant.parallel_requests = 2;
  Reservation first = entered();
  {
    Reservation second = entered();
    const auto third = enter();
    ASSERT_FALSE(third.ok());
    EXPECT_EQ(third.error().kind, LimitKind::kParallelRequests);
    EXPECT_EQ(third.error().owner, LimitOwner::kTenant);
    EXPECT_GT(third.error().retry_after, Duration::zero());
    EXPECT_FALSE(third.error().never());
  }
  Reservation moved = std::move(first);
  Reservation second = entered();
  EXPECT_FALSE(enter().ok());
  moved.settle({}, moment());
  EXPECT_TRUE(enter().ok());
}

TEST_F(LimiterTest, LetsNobodyInAtZero) {
  for (LimitNumber Limits::*limit : {&Limits::requests_per_minute, &Limits::parallel_requests}) {
    key = Limits{};
    key.*limit = 0;
    const auto refused = enter();
    ASSERT_FALSE(refused.ok());
    EXPECT_TRUE(refused.error().never());
    EXPECT_EQ(refusal_error(refused.error()).code, ErrorCode::kPermission);
  }
  for (std::size_t i = static_cast<std::size_t>(LimitKind::kTokensPerDay); i < kLimitKinds; ++i) {
    key = Limits{};
    key.*limit_field(static_cast<LimitKind>(i)).member = 0;
    Reservation reservation = entered();
    EXPECT_FALSE(reservation.claim(claim(1, 0, 1), moment()).ok()) << i;
  }
}

TEST_F(LimiterTest, RefusesWhatIsAboveACapWithItsNumbers) {
  key.max_input_tokens = 100;
  tenant.max_output_tokens = 50;
  Reservation reservation = entered();
  const auto input = reservation.claim(claim(60, 41, 10), moment());
  ASSERT_FALSE(input.ok());
  EXPECT_EQ(refusal_text(input.error()),
            "max_input_tokens of key key_1: 101 asked, at most 100 allowed");
  const auto output = reservation.claim(claim(60, 40, 51), moment());
  ASSERT_FALSE(output.ok());
  EXPECT_EQ(refusal_text(output.error()),
            "max_output_tokens of tenant acme: 51 asked, at most 50 allowed");
  EXPECT_EQ(refusal_error(output.error()).field, "max_tokens");
  EXPECT_TRUE(reservation.claim(claim(60, 40, 50), moment()).ok());
}

TEST_F(LimiterTest, ReservesTheLongestAnswerAndReturnsTheRestAtOnce) {
  key.total_tokens_per_minute = 1'000;
  Reservation first = entered();
  ASSERT_TRUE(first.claim(claim(200, 0, 700), moment()).ok());
  Reservation second = entered();
  const auto refused = second.claim(claim(100, 0, 100), moment());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().remaining, 100u);
  EXPECT_EQ(refused.error().asked, 200u);
  EXPECT_EQ(refused.error().retry_after, seconds(6));
  EXPECT_EQ(refusal_text(refused.error()),
            "total_tokens_per_minute of key key_1: 200 asked, 100 of 1000 left; try again in 6 s");
  first.settle({200, 0, 10}, moment());
  EXPECT_TRUE(second.claim(claim(100, 0, 690), moment()).ok());
}

TEST_F(LimiterTest, RoundsAdviceUpToWholeMilliseconds) {
  key.total_tokens_per_minute = 7;
  Reservation first = entered();
  ASSERT_TRUE(first.claim(claim(7, 0, 0), moment()).ok());
  Reservation second = entered();
  const auto refused = second.claim(claim(1, 0, 0), moment());
  ASSERT_FALSE(refused.ok());
  const Error error = refusal_error(refused.error());
  EXPECT_EQ(error.code, ErrorCode::kRateLimited);
  EXPECT_EQ(error.retry_after.count(), 8'572);  // 60 s / 7 = 8571.43 ms
}

TEST_F(LimiterTest, HoldsAllLimitsOfKeyAndTenantOrNone) {
  key.input_tokens_per_minute = 1'000;
  key.tokens_per_day = 1'000;
  tenant.output_tokens_per_minute = 100;
  Reservation reservation = entered();
  ASSERT_FALSE(reservation.claim(claim(900, 0, 101), moment()).ok());
  const LimitReport report = reservation.report(moment());
  EXPECT_EQ(report.input_tokens->remaining, 1'000u);
  EXPECT_EQ(report.tokens->remaining, 1'000u);
  EXPECT_EQ(report.output_tokens->remaining, 100u);
  EXPECT_TRUE(reservation.claim(claim(900, 0, 100), moment()).ok());
}

TEST_F(LimiterTest, WeighsCachedInput) {
  key.input_tokens_per_minute = 1'000;
  Reservation free = entered();
  ASSERT_TRUE(free.claim(claim(10, 5'000, 1), moment()).ok());
  EXPECT_EQ(free.report(moment()).input_tokens->remaining, 990u);
  free.release();
  key.cached_input_weight_permille = 100;
  Reservation weighed = entered();
  ASSERT_TRUE(weighed.claim(claim(10, 5'001, 1), moment()).ok());
  EXPECT_EQ(weighed.report(moment()).input_tokens->remaining, 1'000u - 10 - 501);
}

TEST_F(LimiterTest, ChargesWhatTheCacheDidNotHoldAfterAll) {
  key.input_tokens_per_minute = 1'000;
  key.tokens_per_day = 1'000;
  Reservation reservation = entered();
  ASSERT_TRUE(reservation.claim(claim(10, 400, 5), moment()).ok());
  reservation.settle({410, 0, 5}, moment());
  EXPECT_EQ(left(LimitKind::kInputTokensPerMinute), 590u);
  Reservation next = entered();
  EXPECT_EQ(next.report(moment()).tokens->remaining, 585u);
}

TEST_F(LimiterTest, CountsMoneyToTheMicro) {
  key.money_micros_per_month = 100;
  Reservation reservation = entered();
  const auto refused = reservation.claim(claim(10, 5, 45), moment());  // 10 + 0.5 + 90 = 101
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().asked, 101u);
  EXPECT_TRUE(refused.error().never());
  ASSERT_TRUE(reservation.claim(claim(10, 0, 45), moment()).ok());
  Reservation second = entered();
  const auto later = second.claim(claim(1, 0, 0), moment());
  ASSERT_FALSE(later.ok());
  EXPECT_EQ(later.error().retry_after, hours(24 * 31));  // the clock begins in January
  reservation.settle({10, 0, 3}, moment());
  EXPECT_EQ(left(LimitKind::kMoneyPerMonth), 84u);
}

TEST_F(LimiterTest, LowersTheAnswerOnlyForWhoWantsIt) {
  key.tokens_per_day = 100;
  Reservation strict = entered();
  ASSERT_FALSE(strict.claim(claim(60, 0, 50), moment()).ok());
  key.lower_output_cap = 1;
  Reservation lenient = entered();
  const auto grant = lenient.claim(claim(60, 0, 50), moment());
  ASSERT_TRUE(grant.ok());
  EXPECT_EQ(grant->output_cap, 40u);
  ASSERT_TRUE(grant->lowered_by.has_value());
  EXPECT_EQ(limit_name_text(*grant->lowered_by), "key tokens_per_day");
  // Nothing is left: one token is asked for, and refused until midnight.
  const auto refused = strict.claim(claim(0, 0, 50), moment());
  ASSERT_FALSE(refused.ok());
  Reservation none = entered();
  const auto nothing = none.claim(claim(0, 0, 50), moment());
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.error().asked, 1u);
  EXPECT_EQ(nothing.error().retry_after, hours(24));
}

TEST_F(LimiterTest, LowersToTheTightestLimit) {
  key.lower_output_cap = 1;
  tenant.lower_output_cap = 1;
  key.max_output_tokens = 500;
  key.output_tokens_per_minute = 400;
  key.total_tokens_per_minute = 310;
  tenant.money_micros_per_day = 410;  // 10 of input, then 200 tokens of output
  Reservation reservation = entered();
  const auto grant = reservation.claim(claim(10, 0, 1'000), moment());
  ASSERT_TRUE(grant.ok());
  EXPECT_EQ(grant->output_cap, 200u);
  EXPECT_EQ(limit_name_text(*grant->lowered_by), "tenant money_micros_per_day");
}

TEST_F(LimiterTest, ReturnsEverythingWhenDropped) {
  key = Limits{10, 1'000, 1'000, 1'000, 1, 900, 900, 1'000, 1'000, 1'000'000, 1'000'000, 0, 0};
  tenant = key;
  for (int i = 0; i < 100; ++i) {
    Reservation reservation = entered();
    ASSERT_TRUE(reservation.claim(claim(300, 50, 600), moment()).ok());
  }
  Reservation last = entered();
  const LimitReport report = last.report(moment());
  EXPECT_EQ(report.requests->remaining, 9u);
  EXPECT_EQ(report.input_tokens->remaining, 1'000u);
  EXPECT_EQ(report.output_tokens->remaining, 1'000u);
  EXPECT_EQ(report.tokens->remaining, 1'000u);
}

TEST_F(LimiterTest, ReportsTheTighterOfKeyAndTenant) {
  key.requests_per_minute = 100;
  tenant.requests_per_minute = 50;
  key.tokens_per_day = 10'000;
  key.total_tokens_per_minute = 600;
  Reservation reservation = entered();
  ASSERT_TRUE(reservation.claim(claim(60, 0, 0), moment()).ok());
  const LimitReport report = reservation.report(moment());
  EXPECT_EQ(report.requests->limit, 50u);
  EXPECT_EQ(report.requests->remaining, 49u);
  EXPECT_EQ(report.tokens->limit, 600u);
  EXPECT_EQ(report.tokens->remaining, 540u);
  EXPECT_EQ(report.tokens->reset_after, seconds(6));
}

TEST_F(LimiterTest, KeepsWhatWasCountedWhenLimitsChange) {
  key.tokens_per_day = 1'000;
  key.output_tokens_per_minute = 1'000;
  key.parallel_requests = 2;
  Reservation running = entered();
  ASSERT_TRUE(running.claim(claim(100, 0, 300), moment()).ok());
  key.tokens_per_day = 500;
  key.output_tokens_per_minute = 400;
  Reservation next = entered();
  const LimitReport report = next.report(moment());
  EXPECT_EQ(report.tokens->remaining, 100u);
  EXPECT_EQ(report.output_tokens->remaining, 100u);
  EXPECT_FALSE(enter().ok());
  running.settle({100, 0, 50}, moment());
  EXPECT_EQ(next.report(moment()).tokens->remaining, 350u);
  // A budget that is lower than what was spent refuses, and is not negative.
  key.tokens_per_day = 100;
  Reservation over = entered();
  EXPECT_EQ(over.report(moment()).tokens->remaining, 0u);
}

// An answer that began before a change still tells what is left when its head goes out.
TEST_F(LimiterTest, TellsLimitsWithoutPuttingThemIntoForce) {
  EXPECT_FALSE(limiter.report(parties(), moment()).output_tokens);
  const LimitParties before = parties();
  Reservation old = entered();
  key.output_tokens_per_minute = 400;
  Reservation running = entered();
  ASSERT_TRUE(running.claim(claim(0, 0, 300), moment()).ok());
  EXPECT_EQ(limiter.report(before, moment()).output_tokens->remaining, 100u);
  EXPECT_EQ(left(LimitKind::kOutputTokensPerMinute), 100u);
}

TEST_F(LimiterTest, WaitsNoLongerThanAMinuteForARateThatWasLowered) {
  key.output_tokens_per_minute = 1'000'000;
  Reservation running = entered();
  ASSERT_TRUE(running.claim(claim(0, 0, 500'000), moment()).ok());
  key.output_tokens_per_minute = 1'000;
  Reservation next = entered();
  const LimitReport report = next.report(moment());
  EXPECT_EQ(report.output_tokens->remaining, 0u);
  EXPECT_EQ(report.output_tokens->reset_after, seconds(60));
}

TEST_F(LimiterTest, RemembersABudgetWhoseLimitWasAwayForAWhile) {
  key.tokens_per_day = 1'000;
  Reservation first = entered();
  ASSERT_TRUE(first.claim(claim(100, 0, 0), moment()).ok());
  first.settle({100, 0, 0}, moment());
  key.tokens_per_day.reset();
  Reservation between = entered();
  ASSERT_TRUE(between.claim(claim(50, 0, 0), moment()).ok());
  between.settle({50, 0, 0}, moment());
  key.tokens_per_day = 1'000;
  EXPECT_EQ(left(LimitKind::kTokensPerDay), 850u);
}

TEST_F(LimiterTest, CountsWhatRunningRequestsWereServedForTheJournal) {
  key.tokens_per_day = 1'000;
  std::vector<std::shared_ptr<Budget>> budgets;
  limiter.on_new_budget([&](const Limiter::NewBudget& made) {
    EXPECT_EQ(made.owner->id, "key_1");
    EXPECT_EQ(made.kind, LimitKind::kTokensPerDay);
    EXPECT_EQ(made.limit, 1'000u);
    budgets.push_back(made.budget);
  });
  Reservation reservation = entered();
  ASSERT_TRUE(reservation.claim(claim(100, 0, 300), moment()).ok());
  ASSERT_EQ(budgets.size(), 1u);
  EXPECT_EQ(budgets[0]->spent().amount, 0u);
  const std::unique_ptr<TokenMeter> meter = reservation.meter({});
  for (int i = 0; i < 7; ++i) EXPECT_TRUE(meter->spend_output_token());
  limiter.count_served();
  limiter.count_served();
  EXPECT_EQ(budgets[0]->spent().amount, 107u);
  reservation.settle({100, 0, 9}, moment());
  EXPECT_EQ(budgets[0]->spent().amount, 109u);
  EXPECT_EQ(limiter.reservations(), 0u);
}

TEST_F(LimiterTest, ForgetsWhoIsGone) {
  key.requests_per_minute = 1;
  Reservation first = entered();
  EXPECT_EQ(limiter.accounts(), 2u);
  limiter.forget_if([](const LimitIdentity& owner) { return owner.id == "key_1"; });
  limiter.forget_if([](const LimitIdentity& owner) { return owner.id == "nobody"; });
  EXPECT_EQ(limiter.accounts(), 1u);
  EXPECT_TRUE(enter().ok());
}

}  // namespace
}  // namespace zerohop

// Meters, which claim and cut on the engine thread, and many requests at once.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "admission/limiter_test_kit.h"
#include "base/random.h"

namespace zerohop {
namespace {

using std::chrono::minutes;

TEST_F(LimiterTest, CutsOnTheExactToken) {
  key.tokens_per_day = 30;
  key.lower_output_cap = 1;
  Reservation reservation = entered();
  ASSERT_TRUE(reservation.claim(claim(10, 0, 50), moment()).ok());
  // Two sequences of one request share what is left.
  const std::unique_ptr<TokenMeter> first = reservation.meter({});
  const std::unique_ptr<TokenMeter> second = reservation.meter({});
  for (int token = 0; token < 10; ++token) {
    EXPECT_EQ(first->remaining(), 20u - 2 * token);
    EXPECT_TRUE(first->spend_output_token());
    EXPECT_TRUE(second->spend_output_token());
  }
  EXPECT_FALSE(first->spend_output_token());
  EXPECT_FALSE(second->spend_output_token());
  EXPECT_EQ(second->remaining(), 0u);
  EXPECT_EQ(reservation.served(), 20u);
}

TEST_F(LimiterTest, ClaimsWhenTheEngineKnowsWhatIsCached) {
  key.input_tokens_per_minute = 100;
  key.output_tokens_per_minute = 100;
  Reservation reservation = entered();
  // At the door only the answer is certain to be needed.
  EXPECT_FALSE(reservation.refusal_of(claim(0, 500, 50), moment()).has_value());
  EXPECT_TRUE(reservation.refusal_of(claim(500, 0, 50), moment()).has_value());
  EXPECT_EQ(reservation.report(moment()).output_tokens->remaining, 100u);
  const MeterClaim asked{&clock, kPrices, 50, 20};
  const std::unique_ptr<TokenMeter> first = reservation.meter(asked);
  const std::unique_ptr<TokenMeter> second = reservation.meter(asked);
  EXPECT_FALSE(first->spend_output_token());
  EXPECT_FALSE(reservation.grant().has_value());
  EXPECT_FALSE(first->admit_prompt({60, 440}).has_value());
  EXPECT_FALSE(second->admit_prompt({0, 500}).has_value());
  EXPECT_EQ(reservation.grant()->output_cap, 50u);
  EXPECT_EQ(reservation.report(moment()).input_tokens->remaining, 20u);
  EXPECT_TRUE(first->spend_output_token());
  EXPECT_TRUE(second->spend_output_token());
  EXPECT_EQ(reservation.served(), 2u);
}

TEST_F(LimiterTest, RefusesAllAnswersOfARequestWhosePromptHasNoRoom) {
  key.input_tokens_per_minute = 100;
  Reservation reservation = entered();
  const MeterClaim asked{&clock, kPrices, 50, 0};
  const std::unique_ptr<TokenMeter> first = reservation.meter(asked);
  const std::unique_ptr<TokenMeter> second = reservation.meter(asked);
  ASSERT_TRUE(first->admit_prompt({101, 0}).has_value());
  const std::optional<Error> error = second->admit_prompt({0, 101});
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->message, refusal_text(*reservation.refusal()));
  EXPECT_FALSE(second->spend_output_token());
}

TEST_F(LimiterTest, ClaimsNothingForARequestThatIsOver) {
  key.input_tokens_per_minute = 100;
  Reservation reservation = entered();
  const std::unique_ptr<TokenMeter> meter = reservation.meter({&clock, kPrices, 50, 0});
  reservation.release();
  EXPECT_FALSE(meter->admit_prompt({60, 0}).has_value());
  EXPECT_FALSE(meter->spend_output_token());
  Reservation next = entered();
  EXPECT_EQ(next.report(moment()).input_tokens->remaining, 100u);
}

TEST_F(LimiterTest, LetsNothingOutBehindTheEndOfTheReservation) {
  Reservation reservation = entered();
  ASSERT_TRUE(reservation.claim(claim(10, 0, 50), moment()).ok());
  const std::unique_ptr<TokenMeter> meter = reservation.meter({});
  EXPECT_TRUE(meter->spend_output_token());
  reservation.settle({10, 0, 1}, moment());
  EXPECT_FALSE(meter->spend_output_token());
  EXPECT_EQ(meter->remaining(), 0u);
}

TEST_F(LimiterTest, ServesThousandParallelRequestsNoMoreThanTheBudget) {
  constexpr std::uint64_t kBudget = 20'000;
  for (const bool lower : {false, true}) {
    Limiter fresh;
    Limits limits;
    limits.tokens_per_day = kBudget;
    limits.lower_output_cap = lower;
    std::atomic<std::uint64_t> served{0};
    std::vector<std::thread> threads;
    for (std::uint64_t thread = 0; thread < 8; ++thread) {
      threads.emplace_back([&, thread] {
        Random random(thread);
        for (int i = 0; i < 125; ++i) {
          LimitParties one;
          one.key = LimitParty{"key_1", limits};
          auto reservation = fresh.enter(one, limit_moment(clock));
          ASSERT_TRUE(reservation.ok());
          const TokenClaim asked = claim(random.below(20), 0, 1 + random.below(200));
          const auto grant = reservation->claim(asked, limit_moment(clock));
          if (!grant.ok()) continue;
          const std::unique_ptr<TokenMeter> meter = reservation->meter({});
          const std::uint64_t wanted = random.below(200);
          std::uint64_t output = 0;
          while (output < wanted && meter->spend_output_token()) ++output;
          EXPECT_LE(output, grant->output_cap);
          served += asked.tokens.uncached_input + output;
          reservation->settle({asked.tokens.uncached_input, 0, output}, limit_moment(clock));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_LE(served.load(), kBudget);
    // And what was left over can be had to the last token.
    LimitParties one;
    one.key = LimitParty{"key_1", limits};
    auto rest = fresh.enter(one, limit_moment(clock));
    ASSERT_TRUE(rest.ok());
    EXPECT_EQ(rest->report(limit_moment(clock)).tokens->remaining, kBudget - served.load());
  }
}

// Everything in random order on virtual time; at the end nothing is held and the budget is what was
// settled.
TEST_F(LimiterTest, BalancesItsBooksOverRandomLives) {
  Random random(99);
  key = Limits{500, 9'000, 9'000, 12'000, 20, 900, 900, 500'000, {}, 900'000'000, {}, 250, 1};
  tenant = Limits{900, {}, 20'000, {}, 30, {}, {}, 600'000, 700'000, {}, {}, 0, 0};
  std::vector<Reservation> running;
  std::uint64_t settled = 0;
  std::shared_ptr<Budget> tenant_month;
  limiter.on_new_budget([&](const Limiter::NewBudget& made) {
    if (made.kind == LimitKind::kTokensPerMonth) tenant_month = made.budget;
  });
  for (int step = 0; step < 5'000; ++step) {
    clock.advance(Duration(random.below(200'000'000)));
    if (random.below(2) == 0) {
      auto reservation = enter();
      if (!reservation.ok()) continue;
      const TokenClaim asked = claim(random.below(300), random.below(300), 1 + random.below(300));
      if (!reservation->claim(asked, moment()).ok()) continue;
      running.push_back(std::move(*reservation));
    } else if (!running.empty()) {
      std::swap(running[random.below(running.size())], running.back());
      if (random.below(3) != 0) {
        const BilledTokens used{random.below(300), random.below(300), random.below(300)};
        running.back().settle(used, moment());
        settled += used.uncached_input + used.output;
      }
      running.pop_back();
    }
    if (random.below(10) == 0) limiter.count_served();
  }
  running.clear();
  EXPECT_EQ(tenant_month->used(moment().calendar), settled);
  EXPECT_EQ(tenant_month->spent(moment().calendar), settled);
  EXPECT_EQ(limiter.reservations(), 0u);
  clock.advance(minutes(10));
  Reservation last = entered();
  EXPECT_EQ(last.report(moment()).requests->remaining, 499u);
}

}  // namespace
}  // namespace zerohop

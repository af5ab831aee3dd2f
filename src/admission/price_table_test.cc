#include "admission/price_table.h"

#include <gtest/gtest.h>

#include <limits>

#include "admission/limits.h"
#include "base/random.h"

namespace zerohop {
namespace {

constexpr Prices kPrices{250'000, 25'000, 1'250'000};

TEST(PriceTable, AddsUpKindsAndRoundsUpOnce) {
  EXPECT_EQ(cost_micros({1'000'000, 0, 0}, kPrices), 250'000u);
  EXPECT_EQ(cost_micros({0, 1'000'000, 0}, kPrices), 25'000u);
  EXPECT_EQ(cost_micros({0, 0, 1'000'000}, kPrices), 1'250'000u);
  EXPECT_EQ(cost_micros({0, 0, 0}, kPrices), 0u);
  EXPECT_EQ(cost_micros({0, 1, 0}, kPrices), 1u);
  // 0.25 + 0.025 + 1.25 = 1.525
  EXPECT_EQ(cost_micros({1, 1, 1}, kPrices), 2u);
}

TEST(PriceTable, IsTheSameOnBothWaysOfCalculating) {
  Random random(3);
  for (int i = 0; i < 1'000; ++i) {
    // Ten times as many tokens at a tenth of the price: one is small, the other is not.
    const Prices prices{random.below(kPriceMax / 10), random.below(kPriceMax / 10),
                        random.below(kPriceMax / 10)};
    const Prices dear{prices.input * 10, prices.cached_input * 10, prices.output * 10};
    const BilledTokens few{random.below(4'000'000), random.below(4'000'000), 3'000'000};
    const BilledTokens many{few.uncached_input * 10, few.cached_input * 10, few.output * 10};
    EXPECT_EQ(cost_micros(few, dear), cost_micros(many, prices));
  }
}

TEST(PriceTable, SaturatesInsteadOfOverflowing) {
  constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(cost_micros({kHuge, kHuge, kHuge}, {kPriceMax, kPriceMax, kPriceMax}), kBudgetMax);
  EXPECT_EQ(affordable_output({}, {0, 0, 1}, kHuge), kHuge);
}

TEST(PriceTable, FindsTheLongestAnswerThatOneCanPay) {
  Random random(4);
  for (int i = 0; i < 2'000; ++i) {
    const Prices prices{random.below(5'000'000), random.below(5'000'000),
                        1 + random.below(5'000'000)};
    BilledTokens tokens{random.below(10'000), random.below(10'000), 0};
    const std::uint64_t micros = random.below(100'000);
    const std::uint64_t most = affordable_output(tokens, prices, micros);
    const bool input_fits = cost_micros(tokens, prices) <= micros;
    tokens.output = most;
    EXPECT_EQ(cost_micros(tokens, prices) <= micros, input_fits);
    tokens.output = most + 1;
    EXPECT_GT(cost_micros(tokens, prices), micros);
  }
  EXPECT_EQ(affordable_output({10, 0, 0}, {1, 0, 0}, 1), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(affordable_output({10, 0, 0}, {kPriceMax, 0, 0}, 1), 0u);
}

TEST(PriceTable, FallsBackToTheRowForTheRest) {
  PriceTable table;
  EXPECT_EQ(table.of("any"), Prices{});
  ASSERT_TRUE(table.set("small", {1, 2, 3}, "prices.small").ok());
  EXPECT_EQ(table.of("any"), Prices{});
  ASSERT_TRUE(table.set("*", {4, 5, 6}, "prices.*").ok());
  EXPECT_EQ(table.of("any"), (Prices{4, 5, 6}));
  EXPECT_EQ(table.of("small"), (Prices{1, 2, 3}));
}

TEST(Prices, OfBatchesAreTheirShareRoundedUp) {
  EXPECT_EQ(batch_prices({10, 3, 2'000}), (Prices{10, 3, 2'000}));
  EXPECT_EQ(batch_prices({10, 3, 2'000, 500}), (Prices{5, 2, 1'000}));
  EXPECT_EQ(batch_prices({10, 3, 2'000, 0}), (Prices{0, 0, 0}));
  EXPECT_EQ(batch_prices({kPriceMax, 0, 0, 999}).input, kPriceMax / 1'000 * 999);
}

TEST(PriceTable, RefusesAnAbsurdPriceWithItsPath) {
  PriceTable table;
  const Result<void> refused = table.set("m", {0, 0, kPriceMax + 1}, "prices.m");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().field, "prices.m");
  EXPECT_EQ(table.set("m", {0, 0, 0, kBatchPermilleMax + 1}, "prices.m").error().field, "prices.m");
  EXPECT_TRUE(table.empty());
}

}  // namespace
}  // namespace zerohop

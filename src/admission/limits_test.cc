#include "admission/limits.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

TEST(Limits, NamesEveryFieldOnce) {
  for (const LimitField& field : limit_fields()) {
    EXPECT_EQ(find_limit(field.name), &field) << field.name;
    Limits limits;
    limits.*field.member = 1;
    std::size_t set = 0;
    for (const LimitField& other : limit_fields()) set += (limits.*other.member).has_value();
    EXPECT_EQ(set, 1u) << field.name;
  }
  EXPECT_EQ(sizeof(Limits), limit_fields().size() * sizeof(LimitNumber));
  EXPECT_EQ(find_limit("requests"), nullptr);
}

TEST(Limits, FindsTheFieldOfAKind) {
  EXPECT_EQ(limit_field(LimitKind::kTokensPerDay).name, "tokens_per_day");
  EXPECT_EQ(limit_field(LimitKind::kMoneyPerMonth).member, &Limits::money_micros_per_month);
}

TEST(Limits, RefusesANumberAboveItsMaximumWithItsPath) {
  for (const LimitField& field : limit_fields()) {
    Limits limits;
    limits.*field.member = field.max;
    EXPECT_TRUE(check_limits(limits, "limits.key").ok()) << field.name;
    limits.*field.member = field.max + 1;
    const Result<void> checked = check_limits(limits, "limits.key");
    ASSERT_FALSE(checked.ok()) << field.name;
    EXPECT_EQ(checked.error().field, "limits.key." + std::string(field.name));
  }
}

TEST(Limits, AcceptsZeroAndNothingAtAll) {
  Limits limits;
  EXPECT_TRUE(check_limits(limits, "").ok());
  for (const LimitField& field : limit_fields()) limits.*field.member = 0;
  EXPECT_TRUE(check_limits(limits, "").ok());
}

TEST(Limits, FillsFromDefaultsWhatIsAbsent) {
  Limits own;
  own.requests_per_minute = 0;
  Limits defaults;
  defaults.requests_per_minute = 60;
  defaults.tokens_per_day = 1'000;
  const Limits merged = limits_or(own, defaults);
  EXPECT_EQ(merged.requests_per_minute, 0u);
  EXPECT_EQ(merged.tokens_per_day, 1'000u);
  EXPECT_FALSE(merged.parallel_requests.has_value());
}

TEST(Limits, TurnsARateInRequestsIntoTokens) {
  EXPECT_EQ(*tokens_per_minute_of({"10000/minute"}), 2'100'000u);
  EXPECT_EQ(*tokens_per_minute_of({"1/s"}), 12'600u);
  EXPECT_EQ(*tokens_per_minute_of({"60/hour"}), 210u);
  EXPECT_EQ(*tokens_per_minute_of({"10/min", 1'000}), 10'000u);
  EXPECT_EQ(*tokens_per_minute_of({"0/minute"}), 0u);
  EXPECT_EQ(*tokens_per_minute_of({"1/day"}), 1u);
}

TEST(Limits, RefusesARateThatItCannotRead) {
  for (const std::string_view text :
       {"", "/", "10", "10/", "/minute", "-1/minute", "1.5/minute", "10/fortnight", "10/minute/2",
        " 10/minute", "99999999999999999999/minute", "1000000000000/second"}) {
    const Result<std::uint64_t> tokens = tokens_per_minute_of({text, 210, "limits.rate_limit"});
    ASSERT_FALSE(tokens.ok()) << text;
    EXPECT_EQ(tokens.error().field, "limits.rate_limit");
  }
}

}  // namespace
}  // namespace zerohop

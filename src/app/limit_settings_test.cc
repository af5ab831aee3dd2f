#include "app/limit_settings.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

TEST(LimitSettings, ReadsLimitsAndPrices) {
  LimitsConfig config;
  config.key_defaults = {{"requests_per_minute", "60"}, {"lower_output_cap", "1"}};
  config.tenant_defaults = {{"money_micros_per_month", "5000000"}};
  config.prices = {{"*", "input=250000 output=1250000"}, {"big", " cached_input=3  input=1 "}};
  const Result<LimitSettings> settings = LimitSettings::from_config(config);
  ASSERT_TRUE(settings.ok()) << settings.error().message;
  EXPECT_EQ(settings->key_defaults.requests_per_minute, 60u);
  EXPECT_EQ(settings->key_defaults.lower_output_cap, 1u);
  EXPECT_FALSE(settings->key_defaults.total_tokens_per_minute.has_value());
  EXPECT_EQ(settings->tenant_defaults.money_micros_per_month, 5'000'000u);
  EXPECT_EQ(settings->prices.of("small"), (Prices{250'000, 0, 1'250'000}));
  EXPECT_EQ(settings->prices.of("big"), (Prices{1, 3, 0}));
}

TEST(LimitSettings, MakesTokensOfARateInRequests) {
  LimitsConfig config;
  config.rate_limit = "10000/minute";
  EXPECT_EQ(LimitSettings::from_config(config)->key_defaults.total_tokens_per_minute, 2'100'000u);
  config.tokens_per_request = 1'000;
  EXPECT_EQ(LimitSettings::from_config(config)->key_defaults.total_tokens_per_minute, 10'000'000u);
  // Who says both means the tokens.
  config.key_defaults = {{"total_tokens_per_minute", "5"}};
  EXPECT_EQ(LimitSettings::from_config(config)->key_defaults.total_tokens_per_minute, 5u);
}

TEST(LimitSettings, NamesThePlaceOfWhatItCannotRead) {
  const auto refused = [](auto change) {
    LimitsConfig config;
    change(config);
    const Result<LimitSettings> settings = LimitSettings::from_config(config);
    EXPECT_FALSE(settings.ok());
    if (settings.ok()) return std::string();
    EXPECT_EQ(settings.error().code, ErrorCode::kConfiguration);
    return settings.error().field;
  };
  EXPECT_EQ(refused([](LimitsConfig& c) {
              c.key_defaults = {{"requests", "6"}};
            }),
            "limits.key_defaults");
  EXPECT_EQ(refused([](LimitsConfig& c) {
              c.tenant_defaults = {{"tokens_per_day", "-1"}};
            }),
            "limits.tenant_defaults.tokens_per_day");
  EXPECT_EQ(refused([](LimitsConfig& c) {
              c.key_defaults = {{"lower_output_cap", "2"}};
            }),
            "limits.key_defaults.lower_output_cap");
  EXPECT_EQ(refused([](LimitsConfig& c) { c.rate_limit = "many"; }), "limits.rate_limit");
  EXPECT_EQ(refused([](LimitsConfig& c) { c.prices = {{"m", "in=1"}}; }), "limits.prices.m");
  EXPECT_EQ(refused([](LimitsConfig& c) { c.prices = {{"m", "input"}}; }), "limits.prices.m");
  EXPECT_EQ(refused([](LimitsConfig& c) { c.prices = {{"m", "input=1e6"}}; }), "limits.prices.m");
  EXPECT_EQ(refused([](LimitsConfig& c) {
              c.prices = {{"m", "input=9999999999999"}};
            }),
            "limits.prices.m");
  EXPECT_EQ(refused([](LimitsConfig& c) {
              c.prices = {{"m", "batch_permille=1001"}};
            }),
            "limits.prices.m");
}

}  // namespace
}  // namespace zerohop

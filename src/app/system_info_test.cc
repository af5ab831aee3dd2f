#include "app/system_info.h"

#include <gtest/gtest.h>

#include "app/test_server.h"

namespace zerohop {
namespace {

TEST(SystemInfo, SaysThatNothingWasPrepared) {
  const RunningServer server(FakeModelOptions{});
  const auto info = get(server, "/v1/system_info").json();
  EXPECT_EQ(text_at(info, "/preparation/policy"), "off");
  EXPECT_EQ(text_at(info, "/preparation/prepared"), "false");
  EXPECT_EQ(text_at(info, "/preparation/type"), "original");
}

TEST(SystemInfo, TellsGainAndPriceOfAPreparedModel) {
  TestServerOptions options;
  options.preparation.policy = PreparePolicy::kFast;
  options.preparation.type = WeightType::kQ4_0;
  options.preparation.source_type = "Q4_1";
  options.preparation.reason = "it is faster";
  PrepareCandidate four;
  four.type = WeightType::kQ4_0;
  four.figures.divergence = {256, 0.5, 4, 0.75, 5, 8};
  four.figures.original = {100, 100, 100};
  four.figures.converted = {400, 100, 150};
  PrepareCandidate eight;
  eight.type = WeightType::kQ8_0;
  eight.fault = "does not load";
  options.preparation.candidates = {four, eight};
  const RunningServer server(options);
  const auto info = get(server, "/v1/system_info").json();
  EXPECT_EQ(text_at(info, "/preparation/policy"), "fast");
  EXPECT_EQ(text_at(info, "/preparation/prepared"), "true");
  EXPECT_EQ(text_at(info, "/preparation/type"), "Q4_0");
  EXPECT_EQ(text_at(info, "/preparation/source_type"), "Q4_1");
  EXPECT_EQ(text_at(info, "/preparation/reason"), "it is faster");
  EXPECT_EQ(text_at(info, "/preparation/candidates/0/gain"), "2E0");
  const std::string first = "/preparation/candidates/0/";
  EXPECT_EQ(text_at(info, first + "divergence/kl_mean_nats"), "5E-1");
  EXPECT_EQ(text_at(info, first + "divergence/same_first_choice"), "7.5E-1");
  EXPECT_EQ(text_at(info, first + "divergence/perplexity"), "8E0");
  EXPECT_EQ(text_at(info, first + "tokens_per_second/converted/prefill"), "4E2");
  EXPECT_EQ(text_at(info, "/preparation/candidates/1/fault"), "does not load");
  EXPECT_EQ(text_at(info, "/preparation/candidates/1/gain"), "(none)");
}

}  // namespace
}  // namespace zerohop

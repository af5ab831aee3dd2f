#include "app/admin_usage.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

TEST(AdminUsage, ReadsItsParameters) {
  const auto options = read_usage_request(
      "by=label%3Acorpus,day&key=key_1&tenant=law&from=2026-01-01&until=2026-01-31&format=csv", "");
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->by, "label:corpus,day");
  EXPECT_EQ(options->key, "key_1");
  EXPECT_EQ(options->tenant, "law");
  EXPECT_EQ(options->from, "2026-01-01");
  EXPECT_EQ(options->until, "2026-01-31");
  EXPECT_FALSE(options->json);
  EXPECT_TRUE(usage_query(*options).ok());
}

TEST(AdminUsage, IsJsonUnlessSomebodyAsksForCsv) {
  EXPECT_TRUE(read_usage_request("", "")->json);
  EXPECT_TRUE(read_usage_request("", "*/*")->json);
  EXPECT_FALSE(read_usage_request("", "text/csv")->json);
  EXPECT_TRUE(read_usage_request("format=json", "text/csv")->json);
  EXPECT_FALSE(read_usage_request("format=csv", "application/json")->json);
  EXPECT_EQ(read_usage_request("", "")->by, UsageOptions{}.by);
}

TEST(AdminUsage, RefusesWhatItDoesNotKnowByName) {
  EXPECT_EQ(read_usage_request("to=2026-01-01", "").error().field, "to");
  EXPECT_EQ(read_usage_request("by=day&%62y=key", "").error().field, "%62y");
  EXPECT_EQ(read_usage_request("format=xml", "").error().field, "format");
  EXPECT_EQ(usage_query(*read_usage_request("by=days", "")).error().field, "by");
  EXPECT_EQ(usage_query(*read_usage_request("from=yesterday", "")).error().field, "from");
  EXPECT_EQ(usage_query(*read_usage_request("until=2026-02-30", "")).error().field, "until");
}

}  // namespace
}  // namespace zerohop

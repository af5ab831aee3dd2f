#include "app/admin_requests.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

const std::vector<std::string> kAll{"tenant", "name",     "expires_days", "limits",
                                    "weight", "priority", "pool",         "models"};

std::string fault(const std::string& body) {
  const auto parsed = parse_admin_body(body, kAll);
  return parsed.ok() ? "(read)" : parsed.error().message;
}

TEST(ParseAdminBody, ReadsEveryMember) {
  const auto body = parse_admin_body(
      R"({"tenant":"law","name":"laptop","expires_days":30,"weight":2,"priority":"batch","pool":"",
          "models":["a","b*"],"limits":{"requests_per_minute":60,"tokens_per_day":null}})",
      kAll);
  ASSERT_TRUE(body.ok()) << body.error().message;
  EXPECT_EQ(body->tenant, "law");
  EXPECT_EQ(body->name, "laptop");
  EXPECT_EQ(body->expires_days, 30u);
  EXPECT_EQ(body->weight, 2.0);
  EXPECT_EQ(body->priority, PriorityClass::kBatch);
  EXPECT_EQ(body->pool, "");
  EXPECT_EQ(body->models, (std::vector<std::string>{"a", "b*"}));
  ASSERT_EQ(body->limits.size(), 2u);
  EXPECT_EQ(body->limits[0].second, 60u);
  EXPECT_EQ(body->limits[1].second, std::nullopt);
}

TEST(ParseAdminBody, TakesNoBodyForAnEmptyObject) {
  const auto body = parse_admin_body("", {});
  ASSERT_TRUE(body.ok());
  EXPECT_FALSE(body->name.has_value());
  EXPECT_TRUE(parse_admin_body("{}", {}).ok());
}

TEST(ParseAdminBody, NamesWhatIsWrong) {
  EXPECT_EQ(fault("[]"), "the body must be a JSON object");
  EXPECT_EQ(fault("{"), "the body must be a JSON object");
  EXPECT_EQ(fault(R"({"nmae":"x"})"), "nmae: there is no such member");
  EXPECT_EQ(fault(R"({"name":5})"), "name: must be a string");
  EXPECT_EQ(fault(R"({"expires_days":-1})"),
            "expires_days: must be a whole number from 0 to 36500");
  EXPECT_EQ(fault(R"({"expires_days":1.5})"),
            "expires_days: must be a whole number from 0 to 36500");
  EXPECT_EQ(fault(R"({"expires_days":1e99})"),
            "expires_days: must be a whole number from 0 to 36500");
  EXPECT_EQ(fault(R"({"weight":"heavy"})"), "weight: must be a number");
  EXPECT_EQ(fault(R"({"priority":"high"})"), "priority: must be priority, standard or batch");
  EXPECT_EQ(fault(R"({"models":"a"})"), "models: must be an array of strings");
  EXPECT_EQ(fault(R"({"models":[1]})"), "models: must be an array of strings");
  EXPECT_EQ(fault(R"({"limits":[]})"), "limits: must be an object");
  EXPECT_EQ(fault(R"({"limits":{"speed":1}})"), "limits.speed: there is no such limit");
  EXPECT_EQ(fault(R"({"limits":{"parallel_requests":-1}})").substr(0, 33),
            "limits.parallel_requests: must be");
}

TEST(ParseAdminBody, TakesOnlyWhatTheCallKnows) {
  const auto body = parse_admin_body(R"({"weight":1})", {"limits"});
  ASSERT_FALSE(body.ok());
  EXPECT_EQ(body.error().field, "weight");
}

}  // namespace
}  // namespace zerohop

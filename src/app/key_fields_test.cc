#include "app/key_fields.h"

#include <gtest/gtest.h>

#include <chrono>

namespace zerohop {
namespace {

TEST(KeyFields, MakeAKeyOfWhatIsSaid) {
  constexpr WallTime kNow{std::chrono::hours(500'000)};
  EXPECT_EQ(new_key_of({}, kNow).tenant, kDefaultTenantName);
  EXPECT_FALSE(new_key_of({}, kNow).expires_at.has_value());
  KeyFields fields;
  fields.tenant = "law";
  fields.name = "laptop";
  fields.expires_days = 2;
  fields.limits = {{find_limit("tokens_per_day"), 7}};
  const NewKey key = new_key_of(fields, kNow);
  EXPECT_EQ(key.tenant, "law");
  EXPECT_EQ(key.name, "laptop");
  EXPECT_EQ(key.expires_at, kNow + std::chrono::hours(48));
  EXPECT_EQ(key.limits.tokens_per_day, 7u);
}

TEST(KeyFields, ChangeOnlyWhatIsSaidOfATenant) {
  TenantRecord tenant;
  tenant.weight = 3;
  tenant.models = {"a"};
  tenant.limits.tokens_per_day = 7;
  tenant.overload_status = 503;
  change_tenant({}, tenant);
  EXPECT_EQ(tenant.weight, 3);
  EXPECT_EQ(tenant.models.size(), 1u);
  EXPECT_EQ(tenant.limits.tokens_per_day, 7u);
  EXPECT_EQ(tenant.overload_status, 503);
  KeyFields fields;
  fields.models = std::vector<std::string>{};
  fields.overload_status = 0;
  fields.limits = {{find_limit("tokens_per_day"), std::nullopt}};
  change_tenant(fields, tenant);
  EXPECT_TRUE(tenant.models.empty());
  EXPECT_FALSE(tenant.limits.tokens_per_day.has_value());
  EXPECT_FALSE(tenant.overload_status.has_value());
}

}  // namespace
}  // namespace zerohop

#include "app/instance_identity.h"

#include <gtest/gtest.h>

#include <string>

namespace zerohop {
namespace {

InstanceConfig config() {
  InstanceConfig config;
  config.id = "gpu-risk-01";
  config.pool = "gpu-risk";
  config.labels = {{"law", "20240601"}, {"zone", "b"}};
  config.label_headers = {{"law", "X-Law-Source-Version"}};
  config.peers = {{"gpu-risk-02", "https://10.0.0.2:8443"}, {"law-20230101", "http://10.0.0.9"}};
  return config;
}

bool serves(const InstanceConfig& instance, const char* pin, std::string_view tenant_pool = "") {
  Headers headers;
  if (pin != nullptr) headers.add("X-Anthropic-Instance-Id", pin);
  const auto checked = InstanceIdentity(instance).check(headers, tenant_pool);
  if (!checked.ok()) {
    EXPECT_EQ(checked.error().code, ErrorCode::kWrongInstance);
  }
  return checked.ok();
}

TEST(InstanceIdentity, ServesWhoNamesItOrNobody) {
  EXPECT_TRUE(serves(config(), nullptr));
  EXPECT_TRUE(serves(config(), "gpu-risk-01"));
  EXPECT_TRUE(serves(config(), "gpu-risk-*"));
  EXPECT_TRUE(serves(config(), "*"));
  for (const char* other : {"gpu-risk-02", "gpu-risk-1", "law-*", "", "GPU-RISK-01", "gpu-risk-"}) {
    EXPECT_FALSE(serves(config(), other)) << other;
  }
}

TEST(InstanceIdentity, TellsWhereTheNamedInstanceIs) {
  const InstanceIdentity identity(config());
  EXPECT_EQ(identity.address_of("gpu-risk-02"), "https://10.0.0.2:8443");
  EXPECT_EQ(identity.address_of("law-*"), "http://10.0.0.9");
  EXPECT_FALSE(identity.address_of("cpu-1").has_value());
  Headers headers;
  headers.add(std::string(kInstanceHeader), "law-20230101");
  EXPECT_NE(identity.check(headers, "").error().message.find("http://10.0.0.9"), std::string::npos);
}

TEST(InstanceIdentity, AnExclusivePoolServesItsKeysAndWhoNamesIt) {
  InstanceConfig exclusive = config();
  exclusive.exclusive = true;
  EXPECT_FALSE(serves(exclusive, nullptr));
  EXPECT_FALSE(serves(exclusive, nullptr, "cpu"));
  EXPECT_TRUE(serves(exclusive, nullptr, "gpu-risk"));
  EXPECT_TRUE(serves(exclusive, "gpu-risk-*"));
  EXPECT_TRUE(serves(exclusive, "gpu-risk-01"));
  EXPECT_FALSE(serves(exclusive, "gpu-risk-02", "gpu-risk"));
}

TEST(InstanceIdentity, PutsLabelsIntoHeaders) {
  const InstanceIdentity identity(config());
  ASSERT_EQ(identity.reply_headers().size(), 2u);
  EXPECT_EQ(identity.reply_headers()[0].value, "gpu-risk-01");
  EXPECT_EQ(identity.reply_headers()[1].name, "X-Law-Source-Version");
  EXPECT_EQ(identity.reply_headers()[1].value, "20240601");
}

TEST(InstanceIdentity, RefusesHeadersThatCannotBe) {
  EXPECT_TRUE(check_identity_rules(config()).ok());
  for (const auto& [label, header] : {std::pair{"law", "Content-Length"},
                                      {"law", "Request-Id"},
                                      {"law", "X-Anthropic-Law"},
                                      {"law", "anthropic-law"},
                                      {"law", "no blanks"},
                                      {"law", "colon:"},
                                      {"nothing", "X-Law"}}) {
    InstanceConfig wrong = config();
    wrong.label_headers = {{label, header}};
    EXPECT_FALSE(check_identity_rules(wrong).ok()) << label << " " << header;
  }
}

}  // namespace
}  // namespace zerohop

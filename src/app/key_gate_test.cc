#include "app/key_gate.h"

#include <gtest/gtest.h>

#include "telemetry/metrics_test_kit.h"

namespace zerohop {
namespace {

using std::chrono::hours;

class KeyGateTest : public testing::Test {
 protected:
  KeyGateTest() {
    KeyStoreContents contents;
    contents.secret = "secret";
    contents.had_keys = true;
    TenantRecord law;
    law.number = TenantId{1};
    law.name = "law";
    law.models = {"claude-*"};
    contents.tenants.push_back(law);
    TenantRecord far;
    far.number = TenantId{2};
    far.name = "far";
    far.pool = "gpu";
    contents.tenants.push_back(far);
    good_ = add(contents, TenantId{1});
    far_ = add(contents, TenantId{2});
    revoked_ = add(contents, TenantId{1});
    contents.keys.back().revoked_at = clock_.wall();
    expired_ = add(contents, TenantId{1});
    contents.keys.back().expires_at = clock_.wall() + hours(1);
    gate_.ring().set(std::make_shared<KeyRing>(contents));
  }

  static std::string add(KeyStoreContents& contents, TenantId tenant) {
    std::string text = make_key_text();
    KeyRecord key;
    key.number = KeyId{contents.keys.size() + 1};
    key.id = "key_" + std::to_string(contents.keys.size());
    key.tenant = tenant;
    key.hash = KeyHasher(contents.secret).hash(text);
    contents.keys.push_back(std::move(key));
    return text;
  }

  static RequestHead head(const std::vector<HeaderField>& fields,
                          const std::string& path = "/v1/messages") {
    RequestHead made;
    made.method = "POST";
    made.path = path;
    made.peer = IpAddress::parse("192.0.2.1").value();
    for (const HeaderField& field : fields) made.headers.add(field.name, field.value);
    return made;
  }

  // The key's id, "(open)", or the message of the refusal.
  std::string check(const std::vector<HeaderField>& fields,
                    const std::string& path = "/v1/messages") {
    const Result<Caller> caller = gate_.check(head(fields, path));
    if (!caller.ok()) {
      code_ = caller.error().code;
      clock_.advance(hours(1));  // its address may fail again
      return caller.error().message;
    }
    return caller->key == nullptr ? "(open)" : caller->key->id;
  }

  VirtualClock clock_;
  Config config_;
  MetricsRegistry registry_{{}};
  Metrics metrics_{registry_};
  KeyGate gate_{{&config_, &clock_, &metrics_, 1}};
  std::string good_, far_, revoked_, expired_;
  ErrorCode code_{};
};

TEST_F(KeyGateTest, TakesBothHeaderForms) {
  EXPECT_EQ(check({{"x-api-key", good_}}), "key_0");
  EXPECT_EQ(check({{"authorization", "Bearer " + good_}}), "key_0");
  EXPECT_EQ(check({{"Authorization", "bearer   " + good_}}), "key_0");
  EXPECT_EQ(check({{"x-api-key", good_}, {"authorization", "Bearer " + good_}}), "key_0");
  EXPECT_EQ(check({{"x-api-key", ""}, {"authorization", "Bearer " + good_}}), "key_0");
  const Caller caller = gate_.check(head({{"x-api-key", good_}})).value();
  EXPECT_EQ(caller.tenant->name, "law");
  EXPECT_NE(caller.ring, nullptr);
}

TEST_F(KeyGateTest, RefusesEveryOtherForm) {
  const std::string other = make_key_text();
  const std::vector<std::vector<HeaderField>> bad{
      {},
      {{"x-api-key", ""}},
      {{"x-api-key", "wrong"}},
      {{"x-api-key", other}},
      {{"x-api-key", good_ + "x"}},
      {{"x-api-key", good_.substr(1)}},
      {{"x-api-key", "Bearer " + good_}},
      {{"x-api-key", good_}, {"x-api-key", good_}},
      {{"x-api-key", good_}, {"authorization", "Bearer " + other}},
      {{"x-api-key", other}, {"authorization", "Bearer " + good_}},
      {{"x-api-key", std::string(20'000, 'k')}},
      {{"x-api-key", "sk-zh-\xc3\xa4" + good_.substr(8)}},
      {{"x-api-key", good_ + std::string(1, '\0')}},
      {{"authorization", good_}},
      {{"authorization", "Bearer"}},
      {{"authorization", "Bearer "}},
      {{"authorization", "Basic " + good_}},
      {{"authorization", "Bearer " + good_}, {"authorization", "Bearer " + good_}},
      {{"api-key", good_}},
      {{"cookie", "x-api-key=" + good_}},
      {{"x-api-key", revoked_}},
  };
  for (const auto& fields : bad) {
    const std::string message = check(fields);
    EXPECT_EQ(code_, ErrorCode::kAuthentication) << message;
    EXPECT_EQ(message.find(good_), message.npos);
    EXPECT_EQ(message.find(other), message.npos);
    // By this word agents know that it is the key.
    EXPECT_NE(message.find("x-api-key"), message.npos) << message;
    code_ = {};
  }
}

TEST_F(KeyGateTest, SaysWhyItRefuses) {
  EXPECT_EQ(check({{"x-api-key", make_key_text()}}), "invalid x-api-key");
  EXPECT_EQ(check({{"authorization", "Bearer x"}}), "invalid bearer token (x-api-key)");
  EXPECT_EQ(check({{"x-api-key", revoked_}}), "invalid x-api-key: this key was revoked");
  EXPECT_EQ(check({{"x-api-key", expired_}}), "invalid x-api-key: this key has expired");
  EXPECT_EQ(check({}), "no API key: send it as 'x-api-key: KEY' or as 'Authorization: Bearer KEY'");
}

TEST_F(KeyGateTest, AKeyIsGoodUntilItExpires) {
  EXPECT_EQ(check({{"x-api-key", expired_}}), "key_3");
  clock_.advance(hours(1));
  EXPECT_EQ(check({{"x-api-key", expired_}}), "invalid x-api-key: this key has expired");
}

TEST_F(KeyGateTest, LetsEverybodyProbe) {
  for (const char* path : {"/healthz", "/livez", "/", "/api/hello"}) {
    EXPECT_EQ(check({}, path), "(open)") << path;
  }
  for (const char* path : {"/metrics", "/v1/models", "/v1/system_info", "/healthz/x", "/%68ealthz",
                           "/HEALTHZ", "/v1/cache/misses", ""}) {
    EXPECT_EQ(check({}, path).substr(0, 10), "no API key") << path;
  }
}

TEST_F(KeyGateTest, RefusesATenantOfAnotherPool) {
  check({{"x-api-key", far_}});
  EXPECT_EQ(code_, ErrorCode::kPermission);
  config_.instance.pool = "gpu";
  EXPECT_EQ(check({{"x-api-key", far_}}), "key_1");
}

TEST_F(KeyGateTest, TakesACertificateForTheKeyOfItsName) {
  KeyStoreContents contents;
  contents.secret = "secret";
  contents.had_keys = true;
  TenantRecord law;
  law.number = TenantId{1};
  law.name = "law";
  contents.tenants.push_back(law);
  const std::string text = add(contents, TenantId{1});
  contents.keys.back().name = "laptop";
  add(contents, TenantId{1});
  contents.keys.back().name = "desk";
  contents.keys.back().revoked_at = clock_.wall();
  add(contents, TenantId{1});
  contents.keys.back().name = "desk";
  for (int i = 0; i < 2; ++i) {
    add(contents, TenantId{1});
    contents.keys.back().name = "twice";
  }
  gate_.ring().set(std::make_shared<KeyRing>(contents));
  const auto named = [this](const std::string& name, const std::vector<HeaderField>& fields = {}) {
    RequestHead shown = head(fields);
    shown.client_name = name;
    const Result<Caller> caller = gate_.check(shown);
    clock_.advance(hours(1));
    return caller.ok() ? caller->key->id : caller.error().message.substr(0, 10);
  };
  EXPECT_EQ(named("laptop"), "no API key");  // off by default
  config_.tls.client_identity = ClientIdentity::kKey;
  EXPECT_EQ(named("laptop"), "key_0");
  EXPECT_EQ(named("desk"), "key_2");  // the first one was revoked
  EXPECT_EQ(named("twice"), "no API key");
  EXPECT_EQ(named("nobody"), "no API key");
  EXPECT_EQ(named(""), "no API key");
  // A key that is shown goes first, a wrong one too.
  EXPECT_EQ(named("desk", {{"x-api-key", text}}), "key_0");
  EXPECT_EQ(named("laptop", {{"x-api-key", "wrong"}}), "invalid x-");
}

TEST_F(KeyGateTest, SlowsDownWhoFailsTooOftenButNotGoodKeysFromThere) {
  int refused = 0;
  Result<Caller> last = Caller{};
  while (refused < 1'000) {
    last = gate_.check(head({{"x-api-key", make_key_text()}}));
    if (last.error().code == ErrorCode::kRateLimited) break;
    EXPECT_EQ(last.error().code, ErrorCode::kAuthentication);
    ++refused;
  }
  EXPECT_EQ(refused, 10);
  EXPECT_EQ(last.error().retry_after, std::chrono::seconds(6));
  EXPECT_TRUE(gate_.check(head({{"x-api-key", good_}})).ok());
  // What is told no longer depends on the key: a revoked one looks like an unknown one.
  EXPECT_EQ(gate_.check(head({{"x-api-key", revoked_}})).error().message, last.error().message);
  RequestHead elsewhere = head({});
  elsewhere.peer = IpAddress::parse("192.0.2.2").value();
  EXPECT_EQ(gate_.check(elsewhere).error().code, ErrorCode::kAuthentication);
}

TEST_F(KeyGateTest, CountsFailuresByReasonAndNeverTheKey) {
  const std::string wrong = make_key_text();
  check({{"x-api-key", wrong}});
  check({});
  const std::string page = registry_.prometheus_text();
  for (const char* reason : {"unknown", "missing"}) {
    const std::string label = std::string(R"(reason=")") + reason + "\"";
    EXPECT_EQ(value_of(page, "zerohop_auth_failures_total", label), "1");
  }
  EXPECT_EQ(page.find(wrong), page.npos);
}

TEST_F(KeyGateTest, AsksForKeysAsTheConfigurationSays) {
  EXPECT_TRUE(gate_.asks_for_keys());
  config_.auth.no_auth = true;
  EXPECT_EQ(check({}), "(open)");
  config_.auth = {};
  config_.auth.required = AuthRequired::kNever;
  EXPECT_EQ(check({{"x-api-key", "anything"}}), "(open)");
  config_.auth = {};
  gate_.ring().set(std::make_shared<KeyRing>(KeyStoreContents{}));
  EXPECT_EQ(check({{"x-api-key", "anything"}}), "(open)");
  config_.auth.required = AuthRequired::kAlways;
  EXPECT_EQ(check({{"x-api-key", "anything"}}), "invalid x-api-key");
}

TEST_F(KeyGateTest, TellsWhichModelsATenantMayUse) {
  TenantRecord tenant;
  EXPECT_TRUE(may_use_model(tenant, "anything"));
  tenant.models = {"claude-*", "small"};
  EXPECT_TRUE(may_use_model(tenant, "claude-x"));
  EXPECT_TRUE(may_use_model(tenant, "small"));
  EXPECT_FALSE(may_use_model(tenant, "smaller"));
  EXPECT_FALSE(may_use_model(tenant, ""));
}

}  // namespace
}  // namespace zerohop

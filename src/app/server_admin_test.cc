// The admin API in a whole server on a fake model.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "app/admin_api.h"
#include "app/key_watch.h"
#include "app/test_folder.h"
#include "app/test_server.h"

namespace zerohop {
namespace {

namespace fs = std::filesystem;

class ServerAdminTest : public testing::Test {
 protected:
  ServerAdminTest() {
    TestServerOptions options;
    options.keys = folder_.path() / "keys.sqlite";
    options.admin_token = kAdminToken;
    options.usage = folder_.path() / "usage";
    server_ = std::make_unique<RunningServer>(options);
  }

  Answer admin(const std::string& method, const std::string& path, const std::string& body = "",
               const std::string& token = kAdminToken) const {
    return ask_admin(*server_, {path, body, "", method}, token);
  }
  int models_with(const std::string& key) const {
    return ask(*server_, {"/v1/models", "", "x-api-key: " + key + "\r\n", "GET"}).status;
  }

  TestFolder folder_;
  std::unique_ptr<RunningServer> server_;
};

TEST_F(ServerAdminTest, AsksForItsToken) {
  for (const char* token : {"", "wrong", "a-token-of-the-operato", "a-token-of-the-operator2"}) {
    const Answer refused = admin("GET", "/admin/keys", "", token);
    EXPECT_EQ(refused.status, 401) << token;
    EXPECT_EQ(text_at(refused.json(), "/error/type"), "authentication_error");
  }
  EXPECT_EQ(admin("GET", "/admin/keys").status, 200);
  // A key of a client is no token, and the token is no key.
  const std::string key = text_at(admin("POST", "/admin/keys").json(), "/key");
  EXPECT_EQ(admin("GET", "/admin/keys", "", key).status, 401);
  EXPECT_NE(models_with(kAdminToken), 200);
  // Nothing of it is on the public listener.
  EXPECT_EQ(get(*server_, "/admin/keys").status, 404);
}

TEST_F(ServerAdminTest, AChangeIsInForceWhenItsAnswerComes) {
  const Answer made =
      admin("POST", "/admin/keys", R"({"name":"laptop","limits":{"requests_per_minute":60}})");
  ASSERT_EQ(made.status, 200) << made.body;
  const std::string key = text_at(made.json(), "/key");
  EXPECT_EQ(models_with(key), 200);
  EXPECT_NE(models_with("other"), 200);
  const std::string one = "/admin/keys/" + text_at(made.json(), "/id");
  EXPECT_EQ(text_at(made.json(), "/limits/requests_per_minute"), "60");
  const Answer changed = admin("POST", one, R"({"limits":{"requests_per_minute":null}})");
  EXPECT_EQ(text_at(changed.json(), "/limits"), "{}") << changed.body;
  const Answer revoked = admin("DELETE", one);
  EXPECT_EQ(text_at(revoked.json(), "/state"), "revoked") << revoked.body;
  EXPECT_NE(models_with(key), 200);
  const Answer list = admin("GET", "/admin/keys");
  EXPECT_EQ(text_at(list.json(), "/data/0/state"), "revoked");
  EXPECT_EQ(list.body.find(key), list.body.npos);
}

TEST_F(ServerAdminTest, KeepsTenants) {
  const Answer made = admin("POST", "/admin/tenants",
                            R"({"name":"law","weight":2,"models":["x"],"priority":"priority",
                                 "overload_status":503})");
  EXPECT_EQ(text_at(made.json(), "/overload_status"), "503");
  ASSERT_EQ(made.status, 200) << made.body;
  const std::string key =
      text_at(admin("POST", "/admin/keys", R"({"tenant":"law"})").json(), "/key");
  EXPECT_EQ(models_with(key), 200);
  EXPECT_EQ(text_at(admin("GET", "/admin/tenants").json(), "/data/0/name"), "law");
  EXPECT_EQ(text_at(admin("GET", "/admin/keys?tenant=law").json(), "/data/0/tenant"), "law");
  EXPECT_EQ(text_at(admin("GET", "/admin/keys?tenant=art").json(), "/data"), "[]");
  const Answer erased = admin("DELETE", "/admin/tenants/law");
  EXPECT_EQ(text_at(erased.json(), "/keys"), "1") << erased.body;
  EXPECT_NE(models_with(key), 200);
}

TEST_F(ServerAdminTest, TellsTheUsageOfKeysAsCsvAndJson) {
  const Answer made = admin("POST", "/admin/keys", R"({"name":"laptop"})");
  const std::string key = text_at(made.json(), "/key");
  const std::string id = text_at(made.json(), "/id");
  std::int64_t input = 0;
  std::int64_t output = 0;
  for (int tokens = 1; tokens <= 4; ++tokens) {
    const std::string body = R"({"max_tokens":)" + std::to_string(tokens) +
                             R"(,"messages":[{"role":"user","content":"Hi"}]})";
    const Answer answer = ask(*server_, {"/v1/messages", body, "x-api-key: " + key + "\r\n"});
    ASSERT_EQ(answer.status, 200) << answer.body;
    input += number_at(answer.json(), "/usage/input_tokens");
    output += number_at(answer.json(), "/usage/output_tokens");
  }
  // Nothing has to be written first.
  const Answer json = admin("GET", "/admin/usage?by=key,model");
  ASSERT_EQ(json.status, 200) << json.body;
  EXPECT_EQ(json.header("content-type"), "application/json");
  EXPECT_EQ(text_at(json.json(), "/usage/0/key"), id);
  EXPECT_EQ(number_at(json.json(), "/usage/0/requests"), 4);
  EXPECT_EQ(number_at(json.json(), "/usage/0/uncached_input_tokens"), input);
  EXPECT_EQ(number_at(json.json(), "/usage/0/output_tokens"), output);
  const Answer csv = admin("GET", "/admin/usage?by=key&format=csv");
  EXPECT_EQ(csv.header("content-type"), "text/csv; charset=utf-8; header=present");
  EXPECT_TRUE(csv.body.starts_with("key,requests,")) << csv.body;
  EXPECT_NE(csv.body.find("\r\n" + id + ",4,"), csv.body.npos) << csv.body;
  EXPECT_EQ(text_at(admin("GET", "/admin/usage?key=key_other").json(), "/usage"), "[]");
  EXPECT_EQ(text_at(admin("GET", "/admin/usage?until=2020-01-01").json(), "/usage"), "[]");
  for (const std::string bad : {"by=days", "from=yesterday", "to=2026-01-01", "format=xml"}) {
    EXPECT_EQ(admin("GET", "/admin/usage?" + bad).status, 400) << bad;
  }
  EXPECT_EQ(admin("GET", "/admin/usage", "", "wrong").status, 401);
}

TEST_F(ServerAdminTest, ATenantThatIsMadeAnewInheritsNothing) {
  const std::string tenant = R"({"name":"law","limits":{"tokens_per_month":100}})";
  const auto key_of_law = [&] {
    EXPECT_EQ(admin("POST", "/admin/tenants", tenant).status, 200);
    return text_at(admin("POST", "/admin/keys", R"({"tenant":"law"})").json(), "/key");
  };
  const auto say = [&](const std::string& key) {
    return ask(*server_,
               {"/v1/messages", R"({"max_tokens":30,"messages":[{"role":"user","content":"Hi"}]})",
                "x-api-key: " + key + "\r\n"});
  };
  for (const std::string key = key_of_law(); say(key).status == 200;) continue;
  EXPECT_NE(text_at(admin("GET", "/admin/usage?tenant=law").json(), "/usage"), "[]");
  EXPECT_EQ(admin("DELETE", "/admin/tenants/law").status, 200);
  EXPECT_TRUE(eventually(
      [&] { return text_at(admin("GET", "/admin/usage?tenant=law").json(), "/usage") == "[]"; }));
  EXPECT_EQ(say(key_of_law()).status, 200);
  EXPECT_EQ(text_at(admin("GET", "/admin/usage?by=&tenant=law").json(), "/usage/0/requests"), "1");
}

TEST_F(ServerAdminTest, ReadsTheKeysAnewOnlyWhereSomethingHasChanged) {
  const std::string key = text_at(admin("POST", "/admin/keys").json(), "/key");
  const auto readings = [&] {
    const Answer page = ask(*server_, {"/metrics", "", "x-api-key: " + key + "\r\n", "GET"});
    const std::string series = "zerohop_key_reloads_total{";
    std::string line = page.body.substr(page.body.find("\n" + series) + 1);
    line = line.substr(0, line.find('\n'));
    EXPECT_NE(line.find("outcome=\"done\""), line.npos) << line;
    return std::stod(line.substr(line.rfind(' ')));
  };
  const double at_first = readings();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(admin("GET", "/admin/keys").status, 200);
  EXPECT_EQ(admin("DELETE", "/admin/keys/none").status, 404);
  EXPECT_EQ(readings(), at_first);
  EXPECT_EQ(admin("POST", "/admin/keys").status, 200);
  EXPECT_GT(readings(), at_first);
}

TEST_F(ServerAdminTest, RefusesWhatIsWrong) {
  EXPECT_EQ(admin("POST", "/admin/keys", R"({"tenant":"nobody"})").status, 404);
  EXPECT_EQ(admin("POST", "/admin/keys", R"({"nmae":"x"})").status, 400);
  EXPECT_EQ(admin("POST", "/admin/keys", "{").status, 400);
  EXPECT_EQ(admin("POST", "/admin/tenants", R"({"name":"a b"})").status, 400);
  EXPECT_EQ(admin("POST", "/admin/tenants", R"({"name":"a","overload_status":500})").status, 400);
  EXPECT_EQ(admin("DELETE", "/admin/keys/none").status, 404);
  EXPECT_EQ(admin("DELETE", "/admin/tenants/none").status, 404);
  EXPECT_EQ(admin("POST", "/admin/keys", std::string(70'000, ' ')).status, 413);
  EXPECT_EQ(admin("GET", "/v1/models").status, 404);
  EXPECT_EQ(admin("POST", "/admin/reload").status, 200);
}

TEST(AdminToken, IsMadeOnceAndReadableByItsOwnerAlone) {
  const TestFolder folder;
  AdminConfig config;
  config.token_file = folder.path() / "token";
  EXPECT_FALSE(admin_token(config).ok());
  std::ofstream(config.token_file) << "short\n";
  fs::permissions(config.token_file, fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_NE(admin_token(config).error().message.find("16 characters"), std::string::npos);
  std::ofstream(config.token_file) << "long enough for a token\n";
  EXPECT_EQ(admin_token(config).value(), "long enough for a token");
  fs::permissions(config.token_file, fs::perms::group_read, fs::perm_options::add);
  EXPECT_NE(admin_token(config).error().message.find("chmod 600"), std::string::npos);
}

// ---- Whose metrics ----

class ServerMetricsOfTenants : public testing::Test {
 protected:
  ServerMetricsOfTenants() {
    TestServerOptions options;
    options.model = never_ends();
    options.keys = folder_.path() / "keys.sqlite";
    options.admin_token = kAdminToken;
    options.configure = [](Config& config) {
      config.metrics.operator_tenants = {"ops"};
      config.metrics.labels = {"channel"};
    };
    server_.emplace(options);
    for (const char* tenant : {"art", "lawyers", "ops"}) {
      admin("POST", "/admin/tenants", std::string(R"({"name":")") + tenant + R"("})");
      keys_[tenant] = text_at(
          admin("POST", "/admin/keys", std::string(R"({"tenant":")") + tenant + R"("})").json(),
          "/key");
    }
    for (const char* tenant : {"art", "lawyers"}) {
      const std::string body = std::string(R"({"max_tokens":3,"metadata":{"channel":"of-)") +
                               tenant + R"("},"messages":[{"role":"user","content":"Hi"}]})";
      EXPECT_EQ(ask(*server_, {"/v1/messages", body, header(tenant)}).status, 200);
    }
    server_->settle();
  }
  Answer admin(const std::string& method, const std::string& path, const std::string& body = "") {
    return ask_admin(*server_, {path, body, "", method}, kAdminToken);
  }
  std::string header(const std::string& tenant) { return "x-api-key: " + keys_[tenant] + "\r\n"; }
  std::string page_for(const std::string& tenant) {
    const Answer page = ask(*server_, {"/metrics", "", header(tenant), "GET"});
    EXPECT_EQ(page.status, 200);
    return page.body;
  }

  TestFolder folder_;
  std::optional<RunningServer> server_;
  std::map<std::string, std::string> keys_;
};

TEST_F(ServerMetricsOfTenants, AKeyReadsThoseOfItsOwnTenantAndOfTheInstance) {
  const std::string page = page_for("art");
  EXPECT_NE(page.find("zerohop_tenant_tokens_total{"), page.npos);
  EXPECT_NE(page.find(R"(tenant="art")"), page.npos);
  EXPECT_EQ(page.find("lawyers"), page.npos) << "neither its name nor what it calls its channels";
  EXPECT_NE(page.find("zerohop_engine_steps_total{"), page.npos);
  EXPECT_EQ(ask(*server_, {"/metrics", "", "", "GET"}).status, 401);
}

TEST_F(ServerMetricsOfTenants, OperatorsAndTheAdminListenerReadAll) {
  for (const std::string& page : {page_for("ops"), admin("GET", "/metrics").body}) {
    for (const char* shown : {R"(tenant="art")", R"(tenant="lawyers")", R"(channel="of-lawyers")",
                              "zerohop_engine_steps_total{"}) {
      EXPECT_NE(page.find(shown), page.npos) << shown;
    }
  }
}

}  // namespace
}  // namespace zerohop

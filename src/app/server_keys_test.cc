// Keys in a whole server on a fake model: both dialects, reload while it runs, tenants.
#include <gtest/gtest.h>

#include <fstream>

#include "admission/key_store.h"
#include "app/key_watch.h"
#include "app/test_folder.h"
#include "app/test_server.h"
#include "telemetry/metrics_test_kit.h"

namespace zerohop {
namespace {

constexpr const char* kHi =
    R"({"model":"fake","max_tokens":5,"messages":[{"role":"user","content":"Hi"}]})";

class ServerKeysTest : public testing::Test {
 protected:
  std::string path() const { return folder_.path() / "keys.sqlite"; }
  std::unique_ptr<KeyStore> store() const { return KeyStore::open(path()).value(); }
  std::string make_key(const std::string& tenant = std::string(kDefaultTenantName)) const {
    NewKey wanted;
    wanted.tenant = tenant;
    return store()->create_key(wanted, SteadyClock().wall())->text;
  }
  TestServerOptions options() const {
    TestServerOptions made;
    made.keys = path();
    return made;
  }
  static Answer say_hi(const RunningServer& server, const std::string& key) {
    const std::string header = key.empty() ? "" : "x-api-key: " + key + "\r\n";
    return ask(server, {"/v1/messages", kHi, header});
  }

  TestFolder folder_;
};

TEST_F(ServerKeysTest, ServesEverybodyWhileThereWasNeverAKey) {
  const RunningServer server(options());
  EXPECT_EQ(say_hi(server, "").status, 200);
  EXPECT_EQ(say_hi(server, "whatever").status, 200);
}

TEST_F(ServerKeysTest, AsksForAKeyBeforeItReadsTheBody) {
  const std::string key = make_key();
  const RunningServer server(options());
  EXPECT_EQ(say_hi(server, key).status, 200);
  Socket socket(server.port());
  socket.send("POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n");
  const std::string answer = socket.receive();  // no byte of the body was sent
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 401 ")) << answer;
  EXPECT_NE(answer.find("www-authenticate: Bearer\r\n"), answer.npos) << answer;
}

TEST_F(ServerKeysTest, RefusesInTheDialectOfThePath) {
  make_key();
  const RunningServer server(options());
  const Answer anthropic = say_hi(server, "wrong");
  EXPECT_EQ(anthropic.status, 401);
  EXPECT_EQ(text_at(anthropic.json(), "/type"), "error");
  EXPECT_EQ(text_at(anthropic.json(), "/error/type"), "authentication_error");
  EXPECT_EQ(anthropic.header("x-should-retry"), "false");
  const Answer openai = ask(server, {"/v1/chat/completions", kHi, ""});
  EXPECT_EQ(openai.status, 401);
  EXPECT_EQ(text_at(openai.json(), "/error/type"), "authentication_error");
  EXPECT_EQ(text_at(openai.json(), "/error/code"), "invalid_api_key");
}

TEST_F(ServerKeysTest, NoticesKeysThatAreMadeAndRevokedWhileItRuns) {
  const RunningServer server(options());
  const std::string key = make_key();
  EXPECT_TRUE(eventually([&] { return say_hi(server, "").status != 200; }));
  EXPECT_EQ(say_hi(server, key).status, 200);
  const std::string other = make_key();
  EXPECT_TRUE(eventually([&] { return say_hi(server, other).status == 200; }));
  ASSERT_TRUE(store()->revoke_key(key, SteadyClock().wall()).ok());
  EXPECT_TRUE(eventually([&] { return say_hi(server, key).status != 200; }));
  EXPECT_EQ(say_hi(server, other).status, 200);
}

TEST_F(ServerKeysTest, KeepsItsKeysWhenTheStoreIsDamagedOrGoneAndTakesANewOne) {
  const std::string key = make_key();
  const RunningServer server(options());
  const auto failures = [&] {
    const std::string page =
        ask(server, {"/metrics", "", "x-api-key: " + key + "\r\n", "GET"}).body;
    const std::string mark = "outcome=\"failed\"} ";
    const std::size_t at = page.find(mark, page.find("\nzerohop_key_reloads_total{"));
    return at == page.npos ? 0 : std::stoi(page.substr(at + mark.size()));
  };
  std::filesystem::rename(path(), path() + ".old");
  EXPECT_TRUE(eventually([&] { return failures() == 1; }));
  EXPECT_EQ(say_hi(server, key).status, 200);
  std::ofstream(path()) << std::string(9000, 'x');
  EXPECT_TRUE(eventually([&] { return failures() == 2; }));
  EXPECT_EQ(say_hi(server, key).status, 200);
  // An empty file is a store without keys: it must not open the server.
  std::filesystem::remove(path());
  std::ofstream(path()).flush();
  EXPECT_TRUE(eventually([&] { return failures() == 3; }));
  EXPECT_EQ(say_hi(server, "").status, 401);
  EXPECT_EQ(say_hi(server, key).status, 200);
  std::filesystem::remove(path());
  const std::string fresh = make_key();
  EXPECT_TRUE(eventually([&] { return say_hi(server, fresh).status == 200; }));
  EXPECT_NE(say_hi(server, key).status, 200);
}

TEST_F(ServerKeysTest, RefusesModelsThatATenantMayNotUse) {
  const auto narrow = [](TenantRecord& tenant) { tenant.models = {"claude-*"}; };
  ASSERT_TRUE(store()->change_tenant("law", narrow).ok());
  const std::string key = make_key("law");
  TestServerOptions wanted = options();
  wanted.configure = [](Config& config) { config.model.aliases = {{"claude-*", "fake"}}; };
  const RunningServer server(wanted);
  const std::string header = "x-api-key: " + key + "\r\n";
  const auto with_model = [&](const std::string& route, const std::string& model) {
    // There `prompt` names a stored one, which is refused.
    const std::string input =
        route == "/v1/responses" ? R"("input":"Hi")" : R"("prompt":"Hi","input":"Hi")";
    const std::string body = R"({"model":")" + model + R"(","max_tokens":5,)" + input +
                             R"(,"messages":[{"role":"user","content":"Hi"}]})";
    return ask(server, {route, body, header});
  };
  for (const char* route : {"/v1/messages", "/v1/messages/count_tokens", "/v1/chat/completions",
                            "/v1/completions", "/v1/responses"}) {
    EXPECT_EQ(with_model(route, "claude-x").status, 200) << route;
    const Answer refused = with_model(route, "fake");
    EXPECT_EQ(refused.status, 403) << route << refused.body;
    EXPECT_EQ(text_at(refused.json(), "/error/type"), "permission_error") << route;
    EXPECT_EQ(with_model(route, "gpt").status, 403) << route;
  }
  EXPECT_EQ(with_model("/v1/embeddings", "fake").status, 403);
  const Answer list = ask(server, {"/v1/models", "", header, "GET"});
  EXPECT_EQ(text_at(list.json(), "/data"), "[]") << list.body;
  EXPECT_EQ(ask(server, {"/v1/models/fake", "", header, "GET"}).status, 404);
}

TEST_F(ServerKeysTest, KeepsTheBatchesOfTenantsApart) {
  ASSERT_TRUE(store()->change_tenant("law", [](TenantRecord&) {}).ok());
  const std::string mine = "x-api-key: " + make_key("law") + "\r\n";
  const std::string other = "x-api-key: " + make_key() + "\r\n";
  TestServerOptions wanted = options();
  wanted.batches = folder_.path() / "batches";
  const RunningServer server(wanted);
  const std::string batches = "/v1/messages/batches";
  const std::string body = std::string(R"({"requests":[{"custom_id":"a","params":)") + kHi + "}]}";
  const Answer made = ask(server, {batches, body, mine});
  ASSERT_EQ(made.status, 200) << made.body;
  const std::string one = batches + "/" + text_at(made.json(), "/id");
  EXPECT_EQ(ask(server, {one, "", mine, "GET"}).status, 200);
  EXPECT_EQ(ask(server, {one, "", other, "GET"}).status, 404);
  EXPECT_EQ(ask(server, {one + "/cancel", "", other}).status, 404);
  EXPECT_EQ(ask(server, {one, "", other, "DELETE"}).status, 404);
  EXPECT_EQ(text_at(ask(server, {batches, "", other, "GET"}).json(), "/data"), "[]");
  EXPECT_TRUE(eventually([&] {
    return text_at(ask(server, {one, "", mine, "GET"}).json(), "/processing_status") == "ended";
  }));
  EXPECT_EQ(ask(server, {one + "/results", "", other, "GET"}).status, 404);
  const Answer results = ask(server, {one + "/results", "", mine, "GET"});
  EXPECT_NE(results.body.find("succeeded"), results.body.npos) << results.body;
}

TEST_F(ServerKeysTest, SaysInWhichClassARequestWasServed) {
  const auto first = [](TenantRecord& tenant) { tenant.priority = PriorityClass::kPriority; };
  const auto last = [](TenantRecord& tenant) { tenant.priority = PriorityClass::kBatch; };
  ASSERT_TRUE(store()->change_tenant("first", first).ok());
  ASSERT_TRUE(store()->change_tenant("last", last).ok());
  const std::string keys[] = {make_key("first"), make_key(), make_key("last")};
  const RunningServer server(options());
  const auto tier = [&](const std::string& path, const std::string& wanted, std::size_t key) {
    const std::string body = R"({"service_tier":")" + wanted + "\"," + std::string(kHi).substr(1);
    const Answer answer = ask(server, {path, body, "x-api-key: " + keys[key] + "\r\n"});
    return text_at(answer.json(), path == "/v1/messages" ? "/usage/service_tier" : "/service_tier");
  };
  EXPECT_EQ(tier("/v1/chat/completions", "priority", 0), "priority");
  EXPECT_EQ(tier("/v1/chat/completions", "priority", 1), "default");
  EXPECT_EQ(tier("/v1/chat/completions", "priority", 2), "flex");
  EXPECT_EQ(tier("/v1/chat/completions", "flex", 0), "flex");
  EXPECT_EQ(tier("/v1/messages", "auto", 0), "priority");
  EXPECT_EQ(tier("/v1/messages", "auto", 1), "standard");
  EXPECT_EQ(tier("/v1/messages", "auto", 2), "batch");
}

TEST_F(ServerKeysTest, ShowsMissesOfTheirOwnTenantAlone) {
  ASSERT_TRUE(store()->change_tenant("law", [](TenantRecord&) {}).ok());
  const std::string mine = make_key();
  const std::string theirs = make_key("law");
  TestServerOptions both = options();
  both.admin_token = kAdminToken;
  const RunningServer server(both);
  const Answer asked = say_hi(server, mine);
  ASSERT_EQ(asked.status, 200);
  const std::string id = asked.header("request-id");
  const auto misses = [&server](const std::string& key) {
    return ask(server, {"/v1/cache/misses", "", "x-api-key: " + key + "\r\n", "GET"}).body;
  };
  EXPECT_NE(misses(mine).find(id), std::string::npos);
  EXPECT_EQ(misses(theirs), R"({"data":[]})");
  const Answer all = ask_admin(server, {"/admin/cache/misses", "", "", "GET"});
  EXPECT_NE(all.body.find(id), std::string::npos);
}

TEST_F(ServerKeysTest, ProbesNeedNoKeyAndOperationsDo) {
  const std::string key = make_key();
  const RunningServer server(options());
  for (const char* open : {"/healthz", "/livez", "/"}) EXPECT_EQ(get(server, open).status, 200);
  for (const char* closed : {"/metrics", "/v1/models", "/v1/system_info", "/v1/cache/misses"}) {
    EXPECT_EQ(get(server, closed).status, 401) << closed;
    const Answer answer = ask(server, {closed, "", "x-api-key: " + key + "\r\n", "GET"});
    EXPECT_EQ(answer.status, 200) << closed;
  }
}

TEST_F(ServerKeysTest, StrangersAreCountedForNoTenant) {
  const std::string key = make_key();  // of tenant `default`
  TestServerOptions wanted = options();
  wanted.admin_token = kAdminToken;
  const RunningServer server(wanted);
  for (const char* stranger : {"", "wrong"}) EXPECT_EQ(say_hi(server, stranger).status, 401);
  EXPECT_EQ(say_hi(server, key).status, 200);
  server.settle();
  const std::string name = "zerohop_tenant_requests_total";
  const std::string all = ask_admin(server, {"/metrics", "", "", "GET"}).body;
  EXPECT_EQ(value_of(all, name, R"x(tenant="(unknown)",status="4xx")x"), "2");
  EXPECT_EQ(value_of(all, name, R"(tenant="default",status="4xx")"), "missing");
  EXPECT_EQ(value_of(all, name, R"(tenant="default",status="2xx")"), "1");
  const std::string own = ask(server, {"/metrics", "", "x-api-key: " + key + "\r\n", "GET"}).body;
  EXPECT_EQ(own.find("tenant=\"(unknown)\""), own.npos) << own;
}

TEST_F(ServerKeysTest, AnAnswerThatRunsWhenItsKeyIsRevokedComesToItsEnd) {
  const std::string key = make_key();
  Gate gate(3);
  TestServerOptions wanted = options();
  wanted.model = never_ends();
  wanted.gate = &gate;
  const RunningServer server(wanted);
  Socket socket(server.port());
  const std::string body =
      R"({"max_tokens":8,"stream":true,"messages":[{"role":"user","content":"Hi"}]})";
  socket.send(bytes_of({"/v1/messages", body, "x-api-key: " + key + "\r\n"}));
  ASSERT_TRUE(eventually([&] { return gate.reached(); }));
  ASSERT_TRUE(store()->revoke_key(key, SteadyClock().wall()).ok());
  EXPECT_TRUE(eventually([&] {
    return ask(server, {"/v1/models", "", "x-api-key: " + key + "\r\n", "GET"}).status != 200;
  }));
  gate.open();
  const Answer answer = parse_answer(socket.receive_all());
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.frames().back().event, "message_stop");
}

TEST_F(ServerKeysTest, DoesNotTakeAStoreThatCannotBeSeenForNone) {
  std::filesystem::create_symlink(path(), path());
  const SteadyClock clock;
  Server server(Config(), clock);
  const auto kept = server.keep_keys(path());
  ASSERT_FALSE(kept.ok());
  EXPECT_EQ(kept.error().code, ErrorCode::kConfiguration);
}

TEST(CheckKeysForAddress, RefusesAPublicAddressThatWouldBeOpen) {
  Config config;
  config.server.host = "0.0.0.0";
  const KeyRing none{KeyStoreContents{}};
  const auto refused = check_keys_for_address(config, none);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kConfiguration);
  EXPECT_NE(refused.error().message.find("'0.0.0.0' is a public address"), std::string::npos);
  KeyStoreContents contents;
  contents.had_keys = true;
  EXPECT_TRUE(check_keys_for_address(config, KeyRing(contents)).ok());
  config.auth.required = AuthRequired::kAlways;
  EXPECT_TRUE(check_keys_for_address(config, none).ok());
  config = {};
  EXPECT_TRUE(check_keys_for_address(config, none).ok());
}

}  // namespace
}  // namespace zerohop

// The console over HTTP: its page, its data, and whose requests they show.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "admission/key_store.h"
#include "app/console_page.h"
#include "app/health.h"
#include "app/test_folder.h"
#include "app/test_server.h"
#include "core/pressure.h"

namespace zerohop {
namespace {

constexpr const char* kHi =
    R"({"model":"fake","max_tokens":4,"messages":[{"role":"user","content":"hello"}]})";

Answer say_hi(const RunningServer& server, const std::string& key = "none") {
  return ask(server, {"/v1/messages", kHi, "x-api-key: " + key + "\r\n"});
}

boost::json::value look(const RunningServer& server, const std::string& path,
                        const std::string& key = "none") {
  const Answer answer = ask(server, {path, "", "x-api-key: " + key + "\r\n", "GET"});
  EXPECT_EQ(answer.status, 200) << answer.body;
  return answer.json();
}

TEST(Console, IsAPageThatNeedsNothingFromElsewhere) {
  const std::string_view page = console_page();
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_NE(page.find("</html>"), page.npos);
  for (const char* outside : {"http://", "https://", "src=", "@import", "url(", "innerHTML"}) {
    EXPECT_EQ(page.find(outside), page.npos) << outside;
  }
  const RunningServer server(FakeModelOptions{});
  const Answer served = get(server, "/console");
  EXPECT_EQ(served.body, page);
  EXPECT_EQ(served.header("content-security-policy"), kConsolePolicy);
}

TEST(Console, ShowsWhatHasBeenAnsweredAndRefused) {
  const RunningServer server(FakeModelOptions{});
  EXPECT_EQ(say_hi(server).status, 200);
  EXPECT_EQ(post(server, "/v1/messages", "{}").status, 400);
  server.settle();
  const auto data = look(server, "/console/data");
  EXPECT_EQ(number_at(data, "/totals/answered"), 1);
  EXPECT_EQ(number_at(data, "/totals/refused"), 1);
  EXPECT_EQ(number_at(data, "/recent/0/status"), 400);
  EXPECT_EQ(text_at(data, "/recent/0/error"), "invalid_request");
  EXPECT_EQ(number_at(data, "/recent/1/output_tokens"), 4);
  EXPECT_EQ(text_at(data, "/recent/2"), "(none)");
  EXPECT_EQ(text_at(data, "/live"), "[]");
}

TEST(Console, HidesNoAnswerBehindAFloodOfRefusals) {
  const RunningServer server(FakeModelOptions{});
  EXPECT_EQ(say_hi(server).status, 200);
  for (int i = 0; i < 60; ++i) EXPECT_EQ(post(server, "/v1/messages", "{}").status, 400);
  server.settle();
  const auto data = look(server, "/console/data");
  EXPECT_EQ(number_at(data, "/recent/49/status"), 400);
  EXPECT_EQ(number_at(data, "/recent/50/status"), 200);
  EXPECT_EQ(text_at(data, "/recent/51"), "(none)");
  EXPECT_EQ(number_at(data, "/totals/refused"), 60);
  EXPECT_EQ(number_at(data, "/totals/turned_away"), 0);
}

TEST(Console, KnowsEveryRungAndEveryHealth) {
  for (std::uint8_t rung = 0; rung < kPressureRungs; ++rung) {
    const std::string name(pressure_rung_name(static_cast<PressureRung>(rung)));
    EXPECT_NE(console_page().find('"' + name + '"'), std::string_view::npos) << name;
  }
  for (const Health health : {Health::kOk, Health::kDegraded, Health::kDraining, Health::kStuck}) {
    const std::string name(health_name(health));
    EXPECT_NE(console_page().find(name + ": ["), std::string_view::npos) << name;
  }
}

TEST(Console, ShowsARequestWhileItRuns) {
  Gate gate(1);
  const RunningServer server({.model = {}, .gate = &gate});
  std::thread client([&server] { say_hi(server); });
  EXPECT_TRUE(eventually([&gate] { return gate.reached(); }));
  const auto data = look(server, "/console/data");
  EXPECT_EQ(text_at(data, "/live/0/path"), "/v1/messages");
  EXPECT_EQ(text_at(data, "/live/0/state"), "inferring");
  gate.open();
  client.join();
  server.settle();
  EXPECT_EQ(text_at(look(server, "/console/data"), "/live"), "[]");
}

TEST(Console, ExplainsOneRequestAndKnowsNoOther) {
  const RunningServer server(FakeModelOptions{});
  const std::string id = say_hi(server).header("request-id");
  server.settle();
  const Answer explained = get(server, "/v1/requests/" + id);
  ASSERT_EQ(explained.status, 200) << explained.body;
  EXPECT_EQ(text_at(explained.json(), "/id"), id);
  EXPECT_NE(explained.body.find(R"("about":"cut")"), std::string::npos) << explained.body;
  EXPECT_EQ(get(server, "/v1/requests/req_nobody").status, 404);
}

TEST(Console, SaysWhyARequestWasRefusedAtTheDoor) {
  TestServerOptions options;
  Gate gate(0);
  options.gate = &gate;
  options.configure = [](Config& config) { config.limits.requests_max = 1; };
  const RunningServer server(options);
  std::thread client([&server] { say_hi(server); });
  EXPECT_TRUE(eventually([&gate] { return gate.reached(); }));
  const Answer refused = say_hi(server);
  EXPECT_EQ(refused.status, 529);
  const auto explained = look(server, "/v1/requests/" + refused.header("request-id"));
  EXPECT_EQ(text_at(explained, "/error"), "overloaded");
  EXPECT_EQ(text_at(explained, "/findings/0/about"), "refused");
  gate.open();
  client.join();
}

TEST(Console, RemembersNoStrangersWhereKeysAreAskedFor) {
  const TestFolder folder;
  const std::string path = folder.path() / "keys.sqlite";
  const std::string key =
      KeyStore::open(path).value()->create_key(NewKey{}, SteadyClock().wall())->text;
  TestServerOptions options;
  options.keys = path;
  const RunningServer server(options);
  EXPECT_EQ(say_hi(server, "wrong").status, 401);
  EXPECT_EQ(say_hi(server, key).status, 200);
  server.settle();
  const auto data = look(server, "/v1/requests", key);
  EXPECT_EQ(number_at(data, "/data/0/status"), 200);
  EXPECT_EQ(text_at(data, "/data/1"), "(none)");
}

TEST(Console, ShowsAKeyTheRequestsOfItsOwnTenantAndTheAdminAll) {
  const TestFolder folder;
  const std::string path = folder.path() / "keys.sqlite";
  const auto make_key = [&path](const std::string& tenant) {
    NewKey wanted;
    wanted.tenant = tenant;
    const auto store = KeyStore::open(path).value();
    if (tenant != kDefaultTenantName) {
      EXPECT_TRUE(store->change_tenant(tenant, [](TenantRecord&) {}).ok());
    }
    return store->create_key(wanted, SteadyClock().wall())->text;
  };
  const std::string mine = make_key(std::string(kDefaultTenantName));
  const std::string other = make_key("law");
  TestServerOptions options;
  options.keys = path;
  options.admin_token = kAdminToken;
  const RunningServer server(options);
  const std::string id = say_hi(server, mine).header("request-id");
  say_hi(server, other);
  server.settle();

  EXPECT_EQ(get(server, "/console").status, 200);  // the page itself holds nothing
  EXPECT_EQ(get(server, "/console/data").status, 401);
  EXPECT_EQ(get(server, "/v1/requests").status, 401);
  const auto data = look(server, "/console/data", other);
  EXPECT_EQ(text_at(data, "/view"), "law");
  EXPECT_EQ(text_at(data, "/recent/0/tenant"), "law");
  EXPECT_EQ(text_at(data, "/recent/1"), "(none)");
  EXPECT_EQ(ask(server, {"/v1/requests/" + id, "", "x-api-key: " + other + "\r\n", "GET"}).status,
            404);
  EXPECT_EQ(text_at(look(server, "/v1/requests/" + id, mine), "/id"), id);

  EXPECT_EQ(ask_admin(server, {"/console", "", "", "GET"}, "wrong").status, 200);
  EXPECT_EQ(ask_admin(server, {"/console/data", "", "", "GET"}, "wrong").status, 401);
  const Answer everything = ask_admin(server, {"/console/data", "", "", "GET"});
  EXPECT_EQ(text_at(everything.json(), "/view"), "null");
  const Answer all = ask_admin(server, {"/v1/requests", "", "", "GET"});
  EXPECT_EQ(all.status, 200);
  EXPECT_EQ(text_at(all.json(), "/data/0/tenant"), "law");
  EXPECT_EQ(text_at(all.json(), "/data/1/tenant"), "default");
  EXPECT_EQ(ask_admin(server, {"/v1/requests/" + id, "", "", "GET"}).status, 200);
}

}  // namespace
}  // namespace zerohop

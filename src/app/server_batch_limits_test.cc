// Message batches under the limits of the key that made them, through the whole server.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "admission/key_store.h"
#include "admission/ledger.h"
#include "app/batch_service.h"
#include "app/test_folder.h"
#include "app/test_server.h"

namespace zerohop {
namespace {

namespace json = boost::json;

const std::string kBatches = "/v1/messages/batches";

class ServerBatchLimits : public testing::Test {
 protected:
  TestServerOptions options() const {
    TestServerOptions made{never_ends()};
    made.clock = &clock_;
    made.batches = folder_.path() / "batches";
    made.usage = folder_.path() / "usage";
    made.keys = store_file();
    made.configure = [](Config& config) {
      config.limits.prices = {{"*", "input=1000000 output=2000000 batch_permille=500"}};
    };
    return made;
  }
  std::string store_file() const { return folder_.path() / "keys.sqlite"; }
  std::unique_ptr<KeyStore> store() const { return KeyStore::open(store_file()).value(); }

  MadeKey make_key(const Limits& limits) const {
    NewKey wanted;
    wanted.limits = limits;
    return store()->create_key(wanted, SteadyClock().wall()).value();
  }

  static std::string batch_of(int count, int max_tokens) {
    std::string body = R"({"requests":[)";
    for (int i = 0; i < count; ++i) {
      const std::string id = "r" + std::to_string(i);
      body += (i > 0 ? "," : "") + std::string(R"({"custom_id":")") + id +
              R"(","params":{"max_tokens":)" + std::to_string(max_tokens) +
              R"(,"messages":[{"role":"user","content":")" + id + R"("}]}})";
    }
    return body + "]}";
  }
  static Answer with_key(const RunningServer& server, const MadeKey& key, TestRequest request) {
    request.headers = "x-api-key: " + key.text + "\r\n";
    return ask(server, request);
  }
  static std::string create(const RunningServer& server, const MadeKey& key,
                            const std::string& body) {
    const Answer answer = with_key(server, key, {kBatches, body, ""});
    EXPECT_EQ(answer.status, 200) << answer.body;
    return text_at(answer.json(), "/id");
  }
  // The results by custom_id, once the batch has ended.
  static std::map<std::string, json::value> results(const RunningServer& server, const MadeKey& key,
                                                    const std::string& id) {
    const std::string path = kBatches + "/" + id;
    EXPECT_TRUE(eventually([&] {
      const Answer state = with_key(server, key, {path, "", "", "GET"});
      return text_at(state.json(), "/processing_status") == "ended";
    }));
    const Answer answer = with_key(server, key, {path + "/results", "", "", "GET"});
    std::map<std::string, json::value> found;
    for (std::size_t at = 0; at < answer.body.size();) {
      const std::size_t end = answer.body.find('\n', at);
      const json::value line = json::parse(answer.body.substr(at, end - at));
      found[text_at(line, "/custom_id")] = line.at("result");
      at = end + 1;
    }
    return found;
  }
  struct Counts {
    int succeeded = 0;
    std::int64_t input = 0;
    std::int64_t output = 0;
  };
  static Counts count(const std::map<std::string, json::value>& results) {
    Counts counts;
    for (const auto& [id, result] : results) {
      if (text_at(result, "/type") != "succeeded") continue;
      ++counts.succeeded;
      counts.input += number_at(result, "/message/usage/input_tokens");
      counts.output += number_at(result, "/message/usage/output_tokens");
    }
    return counts;
  }
  LedgerSum ledger_sum() const {
    DatabaseOptions file;
    file.path = ledger_file(folder_.path() / "usage").string();
    auto ledger = Ledger::open(file);
    EXPECT_TRUE(ledger.ok());
    LedgerQuery query;
    query.by.key = query.by.tenant = true;
    const auto sums = (*ledger)->sums(query);
    EXPECT_TRUE(sums.ok() && sums->size() == 1) << sums->size();
    return sums.ok() && !sums->empty() ? sums->front() : LedgerSum{};
  }

  const TestFolder folder_;
  const NoonClock clock_;
};

TEST_F(ServerBatchLimits, ABatchIsServedNoMoreThanTheBudgetOfItsKey) {
  constexpr std::int64_t kBudget = 400;
  Limits limits;
  limits.tokens_per_day = kBudget;
  const MadeKey key = make_key(limits);
  Counts counts;
  {
    const RunningServer server(options());
    const std::string id = create(server, key, batch_of(30, 20));
    const auto found = results(server, key, id);
    ASSERT_EQ(found.size(), 30u);
    counts = count(found);
    EXPECT_LE(counts.input + counts.output, kBudget);
    EXPECT_GT(counts.succeeded, 0);
    EXPECT_LT(counts.succeeded, 30);
    int refused = 0;
    for (const auto& [custom_id, result] : found) {
      if (text_at(result, "/type") != "errored") continue;
      ++refused;
      EXPECT_EQ(text_at(result, "/error/error/type"), "rate_limit_error")
          << json::serialize(result);
      const std::string why = text_at(result, "/error/error/message");
      EXPECT_NE(why.find("tokens_per_day of key " + key.record.id), why.npos) << why;
    }
    EXPECT_EQ(refused + counts.succeeded, 30);
    // The same budget as that of interactive requests.
    const Answer after = with_key(
        server, key,
        {"/v1/messages", R"({"max_tokens":400,"messages":[{"role":"user","content":"x"}]})", ""});
    EXPECT_EQ(after.status, 429) << after.body;
    const std::string left = after.header("anthropic-ratelimit-tokens-remaining");
    EXPECT_EQ(left, std::to_string(kBudget - counts.input - counts.output));
  }
  const LedgerSum sum = ledger_sum();
  EXPECT_EQ(sum.key, key.record.id);
  EXPECT_EQ(sum.tenant, "default");
  EXPECT_EQ(sum.requests, static_cast<std::uint64_t>(counts.succeeded));
  EXPECT_EQ(sum.tokens.uncached_input, static_cast<std::uint64_t>(counts.input));
  EXPECT_EQ(sum.tokens.output, static_cast<std::uint64_t>(counts.output));
  // Half price; each request is rounded up by itself.
  const auto exact = static_cast<std::uint64_t>(counts.input + 2 * counts.output);
  EXPECT_GE(2 * sum.money_micros, exact);
  EXPECT_LE(2 * sum.money_micros, exact + static_cast<std::uint64_t>(counts.succeeded));
}

TEST_F(ServerBatchLimits, AnAnswerIsCutOnTheExactTokenWhereTheKeyWantsThat) {
  Limits limits;
  limits.tokens_per_day = 300;
  limits.lower_output_cap = 1;
  const MadeKey key = make_key(limits);
  const RunningServer server(options());
  const auto found = results(server, key, create(server, key, batch_of(1, 900)));
  const json::value& result = found.at("r0");
  ASSERT_EQ(text_at(result, "/type"), "succeeded") << json::serialize(result);
  EXPECT_EQ(text_at(result, "/message/stop_reason"), "max_tokens");
  const Counts counts = count(found);
  EXPECT_EQ(counts.input + counts.output, 300);
}

TEST_F(ServerBatchLimits, ACapIsTheErrorOfEachRequest) {
  Limits limits;
  limits.max_output_tokens = 10;
  const MadeKey key = make_key(limits);
  const RunningServer server(options());
  const auto found = results(server, key, create(server, key, batch_of(2, 11)));
  for (const auto& [id, result] : found) {
    EXPECT_EQ(text_at(result, "/error/error/type"), "invalid_request_error");
    const std::string why = text_at(result, "/error/error/message");
    EXPECT_NE(why.find("11 asked, at most 10 allowed"), why.npos) << why;
  }
}

TEST_F(ServerBatchLimits, WhatIsLeftOfABatchFailsWhenItsKeyIsRevoked) {
  const MadeKey key = make_key({});
  NewKey second;
  const MadeKey other = store()->create_key(second, SteadyClock().wall()).value();
  Gate gate(0);
  TestServerOptions with_gate = options();
  with_gate.gate = &gate;
  const RunningServer server(with_gate);
  const std::string id = create(server, key, batch_of(3, 5));
  ASSERT_TRUE(eventually([&] { return gate.reached(); }));
  ASSERT_TRUE(store()->revoke_key(key.record.id, SteadyClock().wall()).ok());
  ASSERT_TRUE(eventually([&] {
    return with_key(server, key, {"/v1/models", "", "", "GET"}).status == 401;
  }));
  gate.open();
  // Another key of the tenant sees what became of it.
  const auto found = results(server, other, id);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(text_at(found.at("r0"), "/type"), "succeeded");  // it ran
  for (const std::string late : {"r1", "r2"}) {
    EXPECT_EQ(text_at(found.at(late), "/type"), "errored");
    EXPECT_EQ(text_at(found.at(late), "/error/error/type"), "authentication_error");
    const std::string why = text_at(found.at(late), "/error/error/message");
    EXPECT_NE(why.find("was revoked"), why.npos) << why;
  }
}

TEST_F(ServerBatchLimits, ARateOfAMinuteMakesABatchWaitAndLosesNothing) {
  Limits limits;
  limits.output_tokens_per_minute = 6'000;  // a hundred a second
  const MadeKey key = make_key(limits);
  const RunningServer server(options());
  // 200 more than the bucket holds, so the last ones wait for theirs.
  const auto found = results(server, key, create(server, key, batch_of(31, 200)));
  EXPECT_EQ(count(found).succeeded, 31) << json::serialize(found.begin()->second);
}

TEST_F(ServerBatchLimits, WaitsForItsTurnWhereRequestsAtOnceAreLimited) {
  Limits limits;
  limits.parallel_requests = 1;
  const MadeKey key = make_key(limits);
  Gate gate(0);
  TestServerOptions with_gate = options();
  with_gate.gate = &gate;
  with_gate.configure = [](Config& config) { config.batches.parallel = 3; };
  const RunningServer server(with_gate);
  const std::string id = create(server, key, batch_of(3, 5));
  ASSERT_TRUE(eventually([&] { return gate.reached(); }));
  // The one that runs takes the place of an interactive request of the key as well.
  const Answer refused = with_key(
      server, key,
      {"/v1/messages", R"({"max_tokens":4,"messages":[{"role":"user","content":"x"}]})", ""});
  EXPECT_EQ(refused.status, 429);
  gate.open();
  EXPECT_EQ(count(results(server, key, id)).succeeded, 3);
}

TEST_F(ServerBatchLimits, WhatRunsWhenItsOwnerCancelsIsBilledAsAHangUpIs) {
  Limits limits;
  limits.tokens_per_day = 100'000;
  const MadeKey key = make_key(limits);
  Gate gate(200);
  {
    TestServerOptions with_gate = options();
    with_gate.gate = &gate;
    const RunningServer server(with_gate);
    const std::string id = create(server, key, batch_of(2, 900));
    ASSERT_TRUE(eventually([&] { return gate.reached(); }));
    EXPECT_EQ(with_key(server, key, {kBatches + "/" + id + "/cancel", "", ""}).status, 200);
    const auto found = results(server, key, id);
    EXPECT_EQ(count(found).succeeded, 0);
    gate.open();
    server.settle();
  }
  const LedgerSum sum = ledger_sum();
  EXPECT_GE(sum.requests, 1u);
  EXPECT_GT(sum.tokens.uncached_input, 0u);
  EXPECT_GT(sum.tokens.output, 0u);
}

TEST_F(ServerBatchLimits, HoldForEverybodyWhereNoKeysAreAskedFor) {
  TestServerOptions open = options();
  open.keys.clear();
  open.configure = [](Config& config) { config.limits.key_defaults = {{"tokens_per_day", "100"}}; };
  const RunningServer server(open);
  const MadeKey none;
  const auto found = results(server, none, create(server, none, batch_of(20, 20)));
  const Counts counts = count(found);
  EXPECT_LE(counts.input + counts.output, 100);
  EXPECT_LT(counts.succeeded, 20);
  EXPECT_GT(counts.succeeded, 0);
}

}  // namespace
}  // namespace zerohop

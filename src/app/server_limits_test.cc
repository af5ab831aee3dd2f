// Limits through the whole server: headers, refusals, the exact cut, budgets and the ledger.

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "admission/ledger.h"
#include "app/test_folder.h"
#include "app/test_server.h"

namespace zerohop {
namespace {

using Entries = std::map<std::string, std::string>;

TestServerOptions limited(const Entries& limits) {
  static const NoonClock clock;
  TestServerOptions options{never_ends()};
  options.clock = &clock;
  options.configure = [limits](Config& config) { config.limits.key_defaults = limits; };
  return options;
}

std::string body_of(const std::string& text, int max_tokens) {
  return R"({"messages":[{"role":"user","content":")" + text + R"("}],"max_tokens":)" +
         std::to_string(max_tokens) + "}";
}

Answer message(const RunningServer& server, const std::string& text, int max_tokens) {
  return post(server, "/v1/messages", body_of(text, max_tokens));
}
Answer chat(const RunningServer& server, const std::string& text, int max_tokens) {
  return post(server, "/v1/chat/completions", body_of(text, max_tokens));
}

std::int64_t tokens_of(const Answer& answer) {
  const boost::json::value usage = answer.json().at("usage");
  return number_at(usage, "/input_tokens") + number_at(usage, "/cache_read_input_tokens") +
         number_at(usage, "/output_tokens");
}

TEST(ServerLimits, TellsWhatIsLeftInTheHeadersOfEveryReply) {
  const RunningServer server(limited({{"requests_per_minute", "10"},
                                      {"total_tokens_per_minute", "5000"},
                                      {"input_tokens_per_minute", "4000"},
                                      {"output_tokens_per_minute", "3000"}}));
  const Answer first = message(server, "Hi", 5);
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.header("anthropic-ratelimit-requests-limit"), "10");
  EXPECT_EQ(first.header("anthropic-ratelimit-requests-remaining"), "9");
  EXPECT_EQ(first.header("anthropic-ratelimit-tokens-limit"), "5000");
  EXPECT_EQ(first.header("anthropic-ratelimit-input-tokens-limit"), "4000");
  EXPECT_EQ(first.header("anthropic-ratelimit-output-tokens-limit"), "3000");
  // Settled before the reply goes out: five tokens, less what has come back since.
  EXPECT_GE(std::stoi(first.header("anthropic-ratelimit-output-tokens-remaining")), 2995);
  EXPECT_EQ(first.header("anthropic-ratelimit-tokens-reset").size(),
            std::string("2026-01-01T00:00:00Z").size());
  EXPECT_EQ(first.header("x-ratelimit-limit-requests"), "");
  const Answer second = chat(server, "Hi", 5);
  EXPECT_EQ(second.header("x-ratelimit-limit-requests"), "10");
  EXPECT_EQ(second.header("x-ratelimit-remaining-requests"), "8");
  EXPECT_EQ(second.header("x-ratelimit-limit-tokens"), "5000");
  EXPECT_EQ(second.header("x-ratelimit-reset-requests").back(), 's');
  // A wrong body is a request as well.
  const Answer wrong = post(server, "/v1/messages", "{");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(message(server, "Hi", 5).header("anthropic-ratelimit-requests-remaining"), "6");
}

TEST(ServerLimits, SaysNothingOfLimitsWhereThereAreNone) {
  const RunningServer server(never_ends());
  const Answer answer = message(server, "Hi", 5);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.head.find("ratelimit"), std::string::npos);
}

TEST(ServerLimits, RefusesARequestTooManyWithAdviceInBothDialects) {
  const RunningServer server(limited({{"requests_per_minute", "1"}}));
  EXPECT_EQ(message(server, "Hi", 5).status, 200);
  const Answer refused = message(server, "Hi", 5);
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(text_at(refused.json(), "/error/type"), "rate_limit_error");
  EXPECT_NE(refused.body.find("requests_per_minute of tenant default: 1 asked, 0 of 1 left; try "
                              "again in "),
            std::string::npos)
      << refused.body;
  const int wait_ms = std::stoi(refused.header("retry-after-ms"));
  EXPECT_GT(wait_ms, 0);
  EXPECT_LE(wait_ms, 60'000);
  EXPECT_EQ(std::stoi(refused.header("retry-after")), (wait_ms + 999) / 1'000);
  EXPECT_EQ(refused.header("x-should-retry"), "true");
  EXPECT_EQ(refused.header("anthropic-ratelimit-requests-remaining"), "0");
  const Answer other = chat(server, "Hi", 5);
  EXPECT_EQ(other.status, 429);
  EXPECT_EQ(text_at(other.json(), "/error/code"), "rate_limit_exceeded");
  EXPECT_EQ(other.header("x-ratelimit-remaining-requests"), "0");
}

TEST(ServerLimits, CountsRequestsAtOnce) {
  Gate gate(0);
  TestServerOptions options = limited({{"parallel_requests", "1"}});
  options.gate = &gate;
  const RunningServer server(options);
  Socket first(server.port());
  first.send(bytes_of({"/v1/messages", body_of("Hi", 5), ""}));
  EXPECT_TRUE(eventually([&] { return gate.reached(); }));
  EXPECT_EQ(message(server, "Hi", 5).status, 429);
  gate.open();
  EXPECT_EQ(parse_answer(first.receive_all()).status, 200);
  server.settle();
  EXPECT_TRUE(eventually([&] { return message(server, "Hi", 5).status == 200; }));
}

TEST(ServerLimits, RefusesWhatIsAboveACapAndWhatNeverFits) {
  const RunningServer server(
      limited({{"max_output_tokens", "10"}, {"output_tokens_per_minute", "8"}}));
  const Answer cap = message(server, "Hi", 11);
  EXPECT_EQ(cap.status, 400);
  EXPECT_NE(cap.body.find("max_output_tokens of tenant default: 11 asked, at most 10 allowed"),
            std::string::npos)
      << cap.body;
  const Answer never = message(server, "Hi", 9);
  EXPECT_EQ(never.status, 400);
  EXPECT_EQ(never.header("x-should-retry"), "false");
  EXPECT_EQ(message(server, "Hi", 8).status, 200);
}

TEST(ServerLimits, LetsNobodyInAtZero) {
  const RunningServer server(limited({{"tokens_per_day", "0"}}));
  const Answer refused = message(server, "Hi", 5);
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.header("x-should-retry"), "false");
}

TEST(ServerLimits, CutsOnTheExactTokenAndNamesTheLimit) {
  const RunningServer server(limited({{"tokens_per_day", "200"}, {"lower_output_cap", "1"}}));
  const Answer first = message(server, "Hi", 500);
  ASSERT_EQ(first.status, 200) << first.body;
  EXPECT_EQ(tokens_of(first), 200);
  EXPECT_EQ(text_at(first.json(), "/stop_reason"), "max_tokens");
  EXPECT_EQ(first.header("anthropic-limit-applied"), "tenant tokens_per_day");
  const std::int64_t output = number_at(first.json(), "/usage/output_tokens");
  EXPECT_EQ(first.header("anthropic-limit-output-tokens"), std::to_string(output));
  // Nothing is left until midnight, and waiting for it is nothing for a client's own retries.
  const Answer second = message(server, "Hi", 500);
  EXPECT_EQ(second.status, 429);
  EXPECT_EQ(second.header("x-should-retry"), "false");
}

TEST(ServerLimits, CutsAStreamOnTheExactToken) {
  const RunningServer server(limited({{"tokens_per_day", "150"}, {"lower_output_cap", "1"}}));
  std::string body = body_of("Hi", 500);
  body.insert(1, R"("stream":true,)");
  const Answer answer = post(server, "/v1/messages", body);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("anthropic-limit-applied"), "tenant tokens_per_day");
  std::int64_t input = 0;
  std::int64_t output = 0;
  std::string reason;
  for (const SseFrame& frame : answer.frames()) {
    if (frame.event == "message_start") {
      input = number_at(frame.json(), "/message/usage/input_tokens");
    }
    if (frame.event == "message_delta") {
      output = number_at(frame.json(), "/usage/output_tokens");
      reason = text_at(frame.json(), "/delta/stop_reason");
    }
  }
  EXPECT_EQ(input + output, 150);
  EXPECT_EQ(reason, "max_tokens");
}

TEST(ServerLimits, CountsOnlyInputThatIsNotCached) {
  const std::string text(300, 'x');
  const RunningServer server(limited({{"input_tokens_per_minute", "700"}}));
  const Answer cold = message(server, text, 1);
  ASSERT_EQ(cold.status, 200) << cold.body;
  const std::int64_t prompt = number_at(cold.json(), "/usage/input_tokens");
  ASSERT_GT(prompt, 300);
  // Twelve more times are far more than 700 tokens, but not of those that have to be computed.
  for (int i = 0; i < 12; ++i) {
    const Answer warm = message(server, text, 1);
    ASSERT_EQ(warm.status, 200) << warm.body;
    ASSERT_LT(number_at(warm.json(), "/usage/input_tokens"), 10);
  }
  int refused = 0;
  for (int i = 0; i < 4; ++i) {
    refused += message(server, std::string(300, static_cast<char>('a' + i)), 1).status == 429;
  }
  EXPECT_GE(refused, 2);
}

TEST(ServerLimits, ServesManyRequestsAtOnceNoMoreThanTheBudget) {
  constexpr std::int64_t kBudget = 4'000;
  for (const std::string lower : {"0", "1"}) {
    TestServerOptions options =
        limited({{"tokens_per_day", std::to_string(kBudget)}, {"lower_output_cap", lower}});
    const RunningServer server(options);
    std::atomic<std::int64_t> served{0};
    std::atomic<int> refused{0};
    std::vector<std::thread> clients;
    for (int client = 0; client < 10; ++client) {
      clients.emplace_back([&, client] {
        for (int i = 0; i < 10; ++i) {
          const Answer answer = message(server, "Hi " + std::to_string(client), 40);
          if (answer.status == 200) {
            // Cached input counts nothing.
            served += number_at(answer.json(), "/usage/input_tokens") +
                      number_at(answer.json(), "/usage/output_tokens");
          } else {
            EXPECT_EQ(answer.status, 429) << answer.body;
            ++refused;
          }
        }
      });
    }
    for (std::thread& client : clients) client.join();
    EXPECT_LE(served, kBudget);
    EXPECT_GT(served, kBudget / 2);
    EXPECT_GT(refused, 0);
  }
}

TEST(ServerLimits, CountsEmbeddings) {
  const RunningServer server(limited({{"tokens_per_day", "100"}}));
  const auto embed = [&](const std::string& text) {
    return post(server, "/v1/embeddings", R"({"input":")" + text + R"("})");
  };
  const Answer first = embed(std::string(60, 'e'));
  ASSERT_EQ(first.status, 200) << first.body;
  EXPECT_EQ(embed(std::string(60, 'f')).status, 429);
  EXPECT_EQ(embed("short").status, 200);
}

class ServerUsage : public testing::Test {
 protected:
  TestServerOptions kept(const Entries& limits) {
    TestServerOptions options = limited(limits);
    options.usage = folder.path() / "usage";
    options.configure = [limits](Config& config) {
      config.limits.key_defaults = limits;
      config.limits.prices = {{"*", "input=1000000 cached_input=100000 output=2000000"}};
      config.instance.labels = {{"corpus_version", "20240601"}};
    };
    return options;
  }
  std::vector<LedgerSum> sums(const LedgerGrouping& by) {
    DatabaseOptions options;
    options.path = ledger_file(folder.path() / "usage").string();
    const auto ledger = Ledger::open(options);
    EXPECT_TRUE(ledger.ok());
    LedgerQuery query;
    query.by = by;
    auto found = (*ledger)->sums(query);
    EXPECT_TRUE(found.ok());
    return found.ok() ? std::move(*found) : std::vector<LedgerSum>{};
  }
  void expect_billed_for_both_sides() {
    const std::vector<LedgerSum> found = sums({});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_GT(found[0].tokens.uncached_input, 0u);
    EXPECT_GT(found[0].tokens.output, 0u);
  }

  TestFolder folder;
};

TEST_F(ServerUsage, SumsUpToTheUsageOfAllReplies) {
  BilledTokens expected;
  std::uint64_t requests = 0;
  {
    const RunningServer server(kept({}));
    for (int i = 0; i < 6; ++i) {
      const Answer answer = message(server, "Hi " + std::to_string(i % 2), 3 + i);
      expected.uncached_input += number_at(answer.json(), "/usage/input_tokens");
      expected.cached_input += number_at(answer.json(), "/usage/cache_read_input_tokens");
      expected.output += number_at(answer.json(), "/usage/output_tokens");
      std::string several = body_of("Several", 4);
      several.insert(1, R"("n":3,)");
      const boost::json::value usage =
          post(server, "/v1/chat/completions", several).json().at("usage");
      const auto cached =
          static_cast<std::uint64_t>(number_at(usage, "/prompt_tokens_details/cached_tokens"));
      expected.uncached_input +=
          static_cast<std::uint64_t>(number_at(usage, "/prompt_tokens")) - cached;
      expected.cached_input += cached;
      expected.output += number_at(usage, "/completion_tokens");
      requests += 2;
    }
    EXPECT_EQ(post(server, "/v1/messages", "{").status, 400);
    server.settle();
  }
  LedgerGrouping by;
  by.tenant = true;
  by.labels = {"corpus_version"};
  const std::vector<LedgerSum> found = sums(by);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].tenant, "default");
  EXPECT_EQ(found[0].labels[0], "20240601");
  EXPECT_EQ(found[0].requests, requests);
  EXPECT_EQ(found[0].tokens, expected);
  EXPECT_GE(found[0].money_micros, cost_micros(expected, {1'000'000, 100'000, 2'000'000}));
}

TEST_F(ServerUsage, RemembersSpentBudgetsThroughARestart) {
  const Entries limits{{"tokens_per_day", "300"}};
  std::int64_t used = 0;
  {
    const RunningServer server(kept(limits));
    const Answer answer = message(server, "Hi", 100);
    ASSERT_EQ(answer.status, 200);
    used = tokens_of(answer);
    server.settle();
  }
  const RunningServer server(kept(limits));
  const Answer answer = post(server, "/v1/messages", "{");
  EXPECT_EQ(answer.header("anthropic-ratelimit-tokens-remaining"), std::to_string(300 - used));
}

// Of a whole answer nobody has read a word by then.
TEST_F(ServerUsage, BillsAClientThatLeftAWholeAnswer) {
  {
    const RunningServer server(kept({}));
    {
      Socket client(server.port());
      client.send(bytes_of({"/v1/messages", body_of("Hi", 900), ""}));
      EXPECT_TRUE(eventually([&] { return server.snapshot().output_tokens > 5; }));
      client.close_hard();
    }
    server.settle();
    EXPECT_TRUE(eventually([&] { return server.snapshot().running() == 0; }));
  }
  expect_billed_for_both_sides();
}

TEST_F(ServerUsage, BillsAClientThatLeftForWhatItWasServed) {
  {
    const RunningServer server(kept({}));
    {
      Socket client(server.port());
      std::string body = body_of("Hi", 900);
      body.insert(1, R"("stream":true,)");
      client.send(bytes_of({"/v1/messages", body, ""}));
      std::string seen;
      while (seen.find("content_block_delta") == seen.npos) seen += client.receive();
      client.close_hard();
    }
    server.settle();
    EXPECT_TRUE(eventually([&] { return server.snapshot().running() == 0; }));
  }
  expect_billed_for_both_sides();
}

TEST_F(ServerUsage, TakesItsFolderForOneProcess) {
  const RunningServer server(kept({}));
  Config config;
  config.server.port = 0;
  const SteadyClock clock;
  Server second(config, clock);
  const Result<void> refused = second.keep_usage(folder.path() / "usage");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kConfiguration);
}

}  // namespace
}  // namespace zerohop

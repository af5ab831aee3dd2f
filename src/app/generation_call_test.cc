#include "app/generation_call.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/messages_call.h"
#include "app/openai_calls.h"
#include "app/test_tier.h"
#include "base/clock.h"

namespace zerohop {
namespace {

namespace asio = boost::asio;

Config small_config() {
  Config config;
  config.engine.context_tokens = 1024;
  config.engine.sequences = 2;
  return config;
}

// What a server prepares calls with, and workers that do nothing until they are let go.
class StillWorkers {
 public:
  StillWorkers() : config_(small_config()), service_(config_, clock_) {
    service_.loaded_tier = make_fake_tier(config_.engine, clock_, waker_);
    for (int i = 0; i < kMoreThanWorkers; ++i) {
      service_.workers.post([this] { let_go_.wait(); });
    }
  }
  ~StillWorkers() {
    let_go();
    io_.run();
    service_.workers.join();
    service_.waiters.join();
  }
  StillWorkers(const StillWorkers&) = delete;
  StillWorkers& operator=(const StillWorkers&) = delete;

  /// As earlier requests would have had it made.
  void remember(const std::string& body) {
    const Result<ChatRequest> request = parse_count_call(scope(), profile(), body);
    ASSERT_TRUE(request.ok()) << request.error().message;
    ASSERT_TRUE(service_.tier().prepare_prompt(request->conversation).ok());
  }

  using Outcome = std::shared_ptr<std::optional<Result<PreparedCall>>>;

  /// What is prepared without a worker; nothing yet: it waits for one.
  Outcome begin(std::unique_ptr<DialectCall> call, const std::string& body, bool at_once = true) {
    auto outcome = std::make_shared<std::optional<Result<PreparedCall>>>();
    asio::co_spawn(io_, prepare(std::move(call), body, at_once, outcome),
                   [](const std::exception_ptr& fault) { EXPECT_EQ(fault, nullptr); });
    io_.restart();
    io_.poll();
    return outcome;
  }
  Outcome begin(const std::string& body, bool at_once = true) {
    MessagesHead head;
    head.profile = &profile();
    return begin(make_messages_call(scope(), std::move(head)), body, at_once);
  }

  void let_go() {
    if (!std::exchange(gone_, true)) let_go_.count_down();
  }
  void run() {
    io_.restart();
    io_.run();
  }
  CallScope scope() { return {service_, service_.live.get()}; }

 private:
  static constexpr int kMoreThanWorkers = 8;

  const WireProfile& profile() { return service_.live.get()->wire_profiles.find(""); }

  Awaitable<void> prepare(std::unique_ptr<DialectCall> call, std::string body, bool at_once,
                          Outcome outcome) {
    UnreadCall unread{call.get(), &open_tenant(), std::move(body), nullptr, at_once};
    CallScope scope{service_, service_.live.get()};
    Result<PreparedCall> prepared = co_await prepare_call(std::move(scope), std::move(unread));
    outcome->emplace(std::move(prepared));
  }

  const SteadyClock clock_;
  const Config config_;
  NobodyToWake waker_;
  asio::io_context io_;
  std::latch let_go_{1};
  bool gone_ = false;
  Service service_;
};

std::string body_of(const std::string& text, const std::string& more = {}) {
  return R"({"max_tokens":5,)" + more + R"("messages":[{"role":"user","content":")" + text +
         R"("}]})";
}

TEST(GenerationCall, WhatIsShortAndRememberedNeedsNoWorker) {
  StillWorkers server;
  server.remember(body_of("What is near?"));
  const auto messages = server.begin(body_of("What is near?"));
  const auto chat =
      server.begin(make_chat_completions_call(server.scope()), body_of("What is near?"));
  const auto responses = server.begin(make_responses_call(server.scope()),
                                      R"({"input":[{"role":"user","content":"What is near?"}]})");
  for (const auto& outcome : {messages, chat, responses}) {
    ASSERT_TRUE(outcome->has_value());
    ASSERT_TRUE((*outcome)->ok()) << (*outcome)->error().message;
    EXPECT_EQ((**outcome)->choices.size(), 1u);
  }
}

TEST(GenerationCall, WhatIsShortAndWrongNeedsNoWorker) {
  StillWorkers server;
  const auto outcome = server.begin(R"({"messages":1})");
  ASSERT_TRUE(outcome->has_value());
  EXPECT_FALSE((*outcome)->ok());
}

TEST(GenerationCall, EverythingElseWaitsForAWorker) {
  StillWorkers server;
  const std::string known = body_of("What is near?");
  const std::string wide = body_of(std::string(kBodyAtOnceMax, 'q'), R"("max_tokens":1,)");
  server.remember(known);
  const std::string tool =
      R"("tools":[{"name":"look","input_schema":{"type":"object","properties":{}}}],)";
  const auto new_text = server.begin(body_of("What is far?"));
  const auto new_shape = server.begin(body_of("What is near?", R"("system":"Be brief.",)"));
  const auto with_tools = server.begin(body_of("What is near?", tool));
  const auto in_a_row = server.begin(known, false);
  const auto too_long = server.begin(wide);
  for (const auto& outcome : {new_text, new_shape, with_tools, in_a_row, too_long}) {
    EXPECT_FALSE(outcome->has_value());
  }
  server.let_go();
  server.run();
  for (const auto& outcome : {new_text, new_shape, with_tools, in_a_row}) {
    ASSERT_TRUE(outcome->has_value());
    EXPECT_TRUE((*outcome)->ok()) << (*outcome)->error().message;
  }
  EXPECT_TRUE(too_long->has_value());
}

// The same request, either way.
TEST(GenerationCall, WhatIsRememberedIsWhatAWorkerMakes) {
  StillWorkers server;
  const std::string body = body_of("Again?", R"("system":"Be brief.","temperature":0.5,)");
  const auto made = server.begin(body);
  EXPECT_FALSE(made->has_value());
  server.let_go();
  server.run();
  const auto remembered = server.begin(body);
  ASSERT_TRUE(made->has_value() && (*made)->ok());
  ASSERT_TRUE(remembered->has_value() && (*remembered)->ok());
  const EngineRequest& first = (**made)->choices.front().request;
  const EngineRequest& second = (**remembered)->choices.front().request;
  EXPECT_EQ(second.prompt, first.prompt);
  EXPECT_EQ(second.max_tokens, first.max_tokens);
  EXPECT_EQ(second.sampling.temperature, first.sampling.temperature);
  EXPECT_EQ(second.cache.sections.system_end, first.cache.sections.system_end);
}

}  // namespace
}  // namespace zerohop

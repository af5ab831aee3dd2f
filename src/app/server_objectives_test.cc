// Objectives, through the whole server: what counts, what was good, and what says nothing.
//
// A threshold that nobody reaches and one that everybody keeps make every verdict certain, whatever
// the machine.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "app/test_folder.h"
#include "app/test_server.h"

namespace zerohop {
namespace {

const std::string kTurn = R"("messages":[{"role":"user","content":"Hi"}],"max_tokens":8)";
const std::string kWhole = "{" + kTurn + "}";
const std::string kStream = R"({"stream":true,)" + kTurn + "}";

std::string timed(const std::string& indicator, const std::string& milliseconds) {
  return R"({"indicator":")" + indicator + R"(","target":0.9,"threshold_ms":)" + milliseconds + "}";
}

// One microsecond is never enough, a day always.
const std::map<std::string, std::string> kObjectives{
    {"up", R"({"indicator":"availability","target":0.999})"},
    {"first", timed("ttft", "86400000")},
    {"first-never", timed("ttft", "0.001")},
    {"pause", timed("itl", "86400000")},
    {"pause-never", timed("itl", "0.001")},
    {"whole", timed("total", "86400000")},
    {"whole-never", timed("total", "0.001")},
};

TestServerOptions options(FakeModelOptions model = never_ends(), Gate* gate = nullptr) {
  TestServerOptions made{std::move(model)};
  made.configure = [](Config& config) { config.slo.objectives = kObjectives; };
  made.gate = gate;
  return made;
}

// "good/total" of an objective.
std::string count(const RunningServer& server, const std::string& objective,
                  const std::string& priority = "standard") {
  server.settle();
  const std::string labels =
      "objective=\"" + objective + "\",tier=\"fake\",class=\"" + priority + "\"";
  const auto shown = [&](const std::string& family) {
    return std::to_string(static_cast<int>(metric(server, family, labels)));
  };
  return shown("zerohop_slo_good_total") + "/" + shown("zerohop_slo_total");
}

// All of them, in the order of kObjectives.
std::string counts(const RunningServer& server, const std::string& priority = "standard") {
  std::string all;
  for (const char* name :
       {"up", "first", "first-never", "pause", "pause-never", "whole", "whole-never"}) {
    all += (all.empty() ? "" : " ") + count(server, name, priority);
  }
  return all;
}

constexpr const char* kNothing = "0/0 0/0 0/0 0/0 0/0 0/0 0/0";

TEST(ServerObjectives, WithoutThemNothingIsCounted) {
  const RunningServer server(never_ends());
  ASSERT_EQ(post(server, "/v1/messages", kStream).status, 200);
  server.settle();
  EXPECT_EQ(get(server, "/metrics").body.find("zerohop_slo"), std::string::npos);
  EXPECT_EQ(server.service().live.get()->slo, nullptr);
}

TEST(ServerObjectives, AWholeAnswerCountsForAllButPauses) {
  const RunningServer server(options());
  EXPECT_EQ(counts(server), kNothing);
  ASSERT_EQ(post(server, "/v1/messages", kWhole).status, 200);
  EXPECT_EQ(counts(server), "1/1 1/1 0/1 0/0 0/0 1/1 0/1");
  EXPECT_EQ(counts(server, "priority"), kNothing);
}

TEST(ServerObjectives, AStreamThatStandsStillMissesItsPauses) {
  Gate gate(4);
  const RunningServer server(options(never_ends(), &gate));
  Socket client(server.port());
  client.send(bytes_of({"/v1/messages", kStream, ""}));
  std::string bytes;
  while (bytes.find("content_block_delta") == bytes.npos) bytes += client.receive();
  ASSERT_TRUE(eventually([&] { return gate.reached(); }));
  gate.open();
  client.receive_all();
  EXPECT_EQ(counts(server), "1/1 1/1 0/1 1/1 0/1 1/1 0/1");
}

TEST(ServerObjectives, AWrongRequestSaysNothing) {
  const RunningServer server(options());
  EXPECT_EQ(post(server, "/v1/messages", R"({"messages":5})").status, 400);
  EXPECT_EQ(post(server, "/v1/nothing", kWhole).status, 404);
  EXPECT_EQ(get(server, "/healthz").status, 200);
  EXPECT_EQ(counts(server), kNothing);
}

TEST(ServerObjectives, ALimitOfTheClientIsNoFailureOfTheService) {
  TestServerOptions limited = options();
  limited.configure = [](Config& config) {
    config.slo.objectives = kObjectives;
    config.limits.tenant_defaults = {{"requests_per_minute", "1"}};
  };
  const RunningServer server(limited);
  ASSERT_EQ(post(server, "/v1/messages", kWhole).status, 200);
  ASSERT_EQ(post(server, "/v1/messages", kWhole).status, 429);
  EXPECT_EQ(count(server, "up"), "1/1");
}

TEST(ServerObjectives, WhatAsksNothingOfTheModelSaysNothing) {
  const RunningServer server(options());
  ASSERT_EQ(post(server, "/v1/messages/count_tokens", kWhole).status, 200);
  EXPECT_EQ(counts(server), kNothing);
}

TEST(ServerObjectives, WhatMakesNoTextCountsForAvailabilityAlone) {
  const RunningServer server(options());
  ASSERT_EQ(post(server, "/v1/embeddings", R"({"model":"fake","input":"Hi"})").status, 200);
  EXPECT_EQ(counts(server), "1/1 0/0 0/0 0/0 0/0 0/0 0/0");
  ASSERT_EQ(post(server, "/v1/messages",
                 R"({"messages":[{"role":"user","content":"Hi"}],"max_tokens":0})")
                .status,
            200);
  EXPECT_EQ(counts(server), "2/2 0/0 0/0 0/0 0/0 0/0 0/0");
}

TEST(ServerObjectives, NoRoomIsAFailureOfTheService) {
  TestServerOptions full = options();
  full.configure = [](Config& config) {
    config.slo.objectives = kObjectives;
    config.limits.requests_max = 1;
  };
  const RunningServer server(full);
  {
    Socket first(server.port());
    first.send("POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n");
    ASSERT_TRUE(eventually([&] { return server.service().admission.in_flight() == 1; }));
    ASSERT_EQ(post(server, "/v1/messages", kWhole).status, 529);
    ASSERT_EQ(post(server, "/v1/messages/count_tokens", kWhole).status, 529);
    first.close_hard();
  }
  // A client that never sends its body says nothing.
  EXPECT_EQ(counts(server), "0/1 0/0 0/0 0/0 0/0 0/0 0/0");
}

TEST(ServerObjectives, AModelThatFailsBreaksTheAnswer) {
  FakeModelOptions model = never_ends();
  model.fault = [](std::span<const BatchRow>) { return DecodeStatus::kFatal; };
  const RunningServer server(options(model));
  ASSERT_EQ(post(server, "/v1/messages", kWhole).status, 500);
  // It was to have a first token and a last one; none came.
  EXPECT_EQ(counts(server), "0/1 0/1 0/1 0/0 0/0 0/1 0/1");
}

TEST(ServerObjectives, AStreamThatBreaksWasNoAnswer) {
  std::atomic<bool> breaks{false};
  FakeModelOptions model = never_ends();
  model.fault = [&breaks, decodes = 0](std::span<const BatchRow>) mutable {
    if (++decodes <= 4) return DecodeStatus::kOk;
    while (!breaks) std::this_thread::yield();
    return DecodeStatus::kFatal;
  };
  const RunningServer server(options(model));
  Socket client(server.port());
  client.send(bytes_of({"/v1/messages", kStream, ""}));
  std::string bytes;
  while (bytes.find("content_block_delta") == bytes.npos) bytes += client.receive();
  breaks = true;
  bytes += client.receive_all();
  EXPECT_EQ(parse_answer(bytes).status, 200);
  EXPECT_NE(bytes.find("event: error"), bytes.npos) << bytes;
  EXPECT_EQ(counts(server), "0/1 1/1 0/1 1/1 0/1 0/1 0/1") << "its first token had come";
}

TEST(ServerObjectives, WhoLeavesCountsOnlyWhereItWasTooLateAlready) {
  Gate gate(0);
  const RunningServer server(options(never_ends(), &gate));
  {
    Socket client(server.port());
    client.send(bytes_of({"/v1/messages", kStream, ""}));
    ASSERT_TRUE(eventually([&] { return gate.reached(); }));
    client.close_hard();
  }
  EXPECT_TRUE(eventually([&] { return server.service().admission.in_flight() == 0; }));
  gate.open();
  EXPECT_EQ(counts(server), "0/0 0/0 0/1 0/0 0/0 0/0 0/1");
}

TEST(ServerObjectives, EachClassHasItsOwn) {
  const RunningServer server(options());
  const auto ask_for = [&](const std::string& tier) {
    return post(server, "/v1/chat/completions",
                R"({"service_tier":")" + tier + R"(",)" + kTurn + "}")
        .status;
  };
  ASSERT_EQ(ask_for("priority"), 200);
  ASSERT_EQ(ask_for("flex"), 200);
  EXPECT_EQ(count(server, "first", "priority"), "1/1");
  EXPECT_EQ(count(server, "up", "priority"), "1/1");
  EXPECT_EQ(count(server, "first", "batch"), "1/1");
  EXPECT_EQ(count(server, "up", "batch"), "1/1");
  EXPECT_EQ(counts(server), kNothing);
}

TEST(ServerObjectives, WhatIsComputedForTwoIsTimedOnce) {
  Gate gate(2);
  const RunningServer server(options(never_ends(), &gate));
  const std::string id = "x-anthropic-request-id: same-1\r\n";
  Socket first(server.port());
  first.send(bytes_of({"/v1/messages", kWhole, id}));
  ASSERT_TRUE(eventually([&] { return gate.reached(); }));
  Socket second(server.port());
  second.send(bytes_of({"/v1/messages", kWhole, id}));
  ASSERT_TRUE(eventually([&] { return metric(server, "zerohop_requests_joined_total", "") == 1; }));
  gate.open();
  first.receive_all();
  second.receive_all();
  EXPECT_EQ(counts(server), "2/2 1/1 0/1 0/0 0/0 1/1 0/1");
}

TEST(ServerObjectives, BatchesAndTheirRequestsCountNowhere) {
  const TestFolder folder;
  TestServerOptions made = options();
  made.batches = folder.path();
  const RunningServer server(made);
  const Answer created = post(server, "/v1/messages/batches",
                              R"({"requests":[{"custom_id":"a","params":)" + kWhole + "}]}");
  ASSERT_EQ(created.status, 200) << created.body;
  const std::string path = "/v1/messages/batches/" + text_at(created.json(), "/id");
  ASSERT_TRUE(eventually(
      [&] { return text_at(get(server, path).json(), "/processing_status") == "ended"; }));
  EXPECT_EQ(counts(server), kNothing) << "nor does the request that made the batch";
  EXPECT_EQ(counts(server, "batch"), kNothing);
}

TEST(ServerObjectives, MustNameATierThatRuns) {
  const SteadyClock clock;
  Config config;
  config.server.port = 0;
  config.slo.objectives = {{"up", R"({"indicator":"availability","target":0.9,"tier":"large"})"}};
  Server server(config, clock);
  ASSERT_TRUE(server.listen().ok());
  const auto loaded = server.load(make_fake_model({}));
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code, ErrorCode::kConfiguration);
  EXPECT_NE(loaded.error().message.find("'large' does not run here"), std::string::npos)
      << loaded.error().message;
}

}  // namespace
}  // namespace zerohop

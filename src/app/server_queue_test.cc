// The queue's door through the whole server: bounds, the longest wait, what refusals say; and every
// edge between the states of a request.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/request_history.h"
#include "app/test_server.h"

namespace zerohop {
namespace {

constexpr const char* kBody = R"({"messages":[{"role":"user","content":"Hi"}],"max_tokens":8})";

// A server with one sequence whose model stands still behind its first decode.
class StandingServer {
 public:
  explicit StandingServer(std::function<void(Config&)> configure, int decodes = 0)
      : gate_(decodes),
        server_(TestServerOptions{.model = never_ends(),
                                  .configure =
                                      [&configure](Config& config) {
                                        config.engine.sequences = 1;
                                        configure(config);
                                      },
                                  .gate = &gate_}) {}

  void send(const std::string& headers = "") { send(TestRequest{"/v1/messages", kBody, headers}); }
  void send(const TestRequest& request) {
    sockets_.push_back(std::make_unique<Socket>(server_.port()));
    sockets_.back()->send(bytes_of(request));
  }
  /// One request runs, so many wait.
  bool fill(std::uint32_t waiting, const std::string& headers = "") {
    send(headers);
    if (!eventually([this] { return gate_.reached(); })) return false;
    for (std::uint32_t i = 0; i < waiting; ++i) send(headers);
    return eventually([&] { return server_.snapshot().queued == waiting; });
  }
  Answer ask_once(const std::string& headers = "", const std::string& path = "/v1/messages") {
    return ask(server_, {path, kBody, headers});
  }
  RunningServer& server() { return server_; }
  Gate& gate() { return gate_; }

 private:
  Gate gate_;
  RunningServer server_;
  std::vector<std::unique_ptr<Socket>> sockets_;
};

void expect_advice(const Answer& answer) {
  const int seconds = std::stoi("0" + answer.header("retry-after"));
  const int milliseconds = std::stoi("0" + answer.header("retry-after-ms"));
  EXPECT_GE(milliseconds, 1) << answer.head;
  EXPECT_LE(milliseconds, 60'000);
  EXPECT_EQ(seconds, (milliseconds + 999) / 1000);
  EXPECT_EQ(answer.header("x-should-retry"), "true");
  EXPECT_NE(answer.body.find("; try again in " + std::to_string(seconds) + " s"), answer.body.npos)
      << answer.body;
}

TEST(ServerQueue, RefusesWhatTheQueueHasNoRoomFor) {
  StandingServer standing([](Config& config) { config.queue.requests_max = 2; });
  ASSERT_TRUE(standing.fill(2));
  const Answer refused = standing.ask_once();
  EXPECT_EQ(refused.status, 529);
  EXPECT_EQ(text_at(refused.json(), "/error/type"), "overloaded_error");
  EXPECT_EQ(text_at(refused.json(), "/error/details/error_code"), "queue;requests");
  expect_advice(refused);
  const Answer chat = standing.ask_once("", "/v1/chat/completions");
  EXPECT_EQ(chat.status, 529);
  EXPECT_EQ(text_at(chat.json(), "/error/code"), "server_is_overloaded");
  expect_advice(chat);
  // What needs no place in the engine is served.
  EXPECT_EQ(standing.ask_once("", "/v1/messages/count_tokens").status, 200);
  EXPECT_EQ(metric(standing.server(), "zerohop_queue_refusals_total", R"(cause="requests")"), 2);
}

// Several answers to one prompt: as many places, and all of them or none.
const TestRequest kThree{"/v1/chat/completions", R"({"n":3,)" + std::string(kBody).substr(1), ""};

TEST(ServerQueue, CountsThePromptOfSeveralAnswersOnce) {
  StandingServer standing([](Config&) {});
  ASSERT_TRUE(standing.fill(1));
  const auto tokens = [&] {
    std::uint64_t sum = 0;
    for (const std::uint64_t one : standing.server().snapshot().queued_tokens_by_class) sum += one;
    return sum;
  };
  const std::uint64_t prompt = tokens();
  ASSERT_GT(prompt, 3u);
  standing.send(kThree);
  ASSERT_TRUE(eventually([&] { return standing.server().snapshot().queued == 4; }));
  EXPECT_EQ(tokens(), 2 * prompt + 2);
}

TEST(ServerQueue, CountsItForEachOfThemWhereNothingIsShared) {
  StandingServer standing([](Config& config) { config.engine.deterministic = true; });
  ASSERT_TRUE(standing.fill(1));
  const auto tokens = [&] { return standing.server().snapshot().queued_tokens_by_class; };
  const std::uint64_t prompt = tokens()[index_of(PriorityClass::kStandard)];
  ASSERT_GT(prompt, 3u);
  standing.send(kThree);
  ASSERT_TRUE(eventually([&] { return standing.server().snapshot().queued == 4; }));
  const auto all = tokens();
  EXPECT_EQ(all[0] + all[1] + all[2], 4 * prompt);
}

TEST(ServerQueue, TakesSeveralAnswersTogetherOrNotAtAll) {
  StandingServer standing([](Config& config) { config.queue.requests_max = 4; });
  ASSERT_TRUE(standing.fill(2));
  const Answer refused = ask(standing.server(), kThree);
  EXPECT_EQ(refused.status, 529);
  expect_advice(refused);
  EXPECT_EQ(standing.server().snapshot().queued, 2u);
  standing.gate().open();
  standing.server().settle();
  EXPECT_EQ(standing.server().snapshot().cancelled_queued, 0u) << "some were taken and let go";
  EXPECT_EQ(ask(standing.server(), kThree).status, 200);
}

TEST(ServerQueue, GivesNoTenantTheWholeQueue) {
  StandingServer standing([](Config& config) {
    config.queue.requests_max = 4;
    config.scheduler.tenant_by = TenantBy::kCredential;
  });
  const std::string heavy = "x-api-key: heavy\r\n";
  ASSERT_TRUE(standing.fill(2, heavy));
  const Answer refused = standing.ask_once(heavy);
  EXPECT_EQ(refused.status, 529);
  EXPECT_EQ(text_at(refused.json(), "/error/details/error_code"), "queue;tenant_requests");
  standing.send("x-api-key: light\r\n");
  EXPECT_TRUE(eventually([&] { return standing.server().snapshot().queued == 3; }));
}

TEST(ServerQueue, BoundsTheTokensThatWait) {
  StandingServer standing([](Config& config) { config.queue.tokens_max = 60; });
  ASSERT_TRUE(standing.fill(1));
  const std::string text(100, 'x');
  const Answer refused =
      ask(standing.server(),
          {"/v1/messages",
           R"({"max_tokens":8,"messages":[{"role":"user","content":")" + text + R"("}]})", ""});
  EXPECT_EQ(refused.status, 529) << refused.body;
  EXPECT_EQ(text_at(refused.json(), "/error/details/error_code"), "queue;tokens");
  expect_advice(refused);
}

TEST(ServerQueue, RefusesWhoWouldWaitTooLong) {
  // The first request is answered, so that there are rates; then nothing moves.
  StandingServer standing(
      [](Config& config) {
        config.queue.class_wait_max_seconds = {1000, 0.000001, 1000};
      },
      9);
  EXPECT_EQ(standing.ask_once().status, 200);
  standing.server().settle();
  ASSERT_TRUE(standing.fill(0));
  const Answer refused = standing.ask_once();
  EXPECT_EQ(refused.status, 529);
  EXPECT_EQ(text_at(refused.json(), "/error/details/error_code"), "queue;wait");
  expect_advice(refused);
  // A better class may wait longer, and what class it is only the body tells.
  Socket patient(standing.server().port());
  patient.send(bytes_of({"/v1/chat/completions",
                         R"({"service_tier":"priority","max_tokens":8,)"
                         R"("messages":[{"role":"user","content":"Hi"}]})",
                         ""}));
  EXPECT_TRUE(eventually([&] { return standing.server().snapshot().queued == 1; }));
}

TEST(ServerQueue, RefusesARepetitionAtItsHeadUntilItsTime) {
  StandingServer standing([](Config& config) { config.queue.requests_max = 1; });
  ASSERT_TRUE(standing.fill(1));
  const std::string first = "x-stainless-retry-count: 0\r\n";
  const std::string again = "x-stainless-retry-count: 1\r\n";
  const Answer refused = standing.ask_once(first);
  EXPECT_EQ(refused.status, 529);
  const Answer repeated = standing.ask_once(again);
  EXPECT_EQ(repeated.status, 529);
  EXPECT_NE(repeated.body.find("before its time"), repeated.body.npos) << repeated.body;
  EXPECT_LE(std::stoi(repeated.header("retry-after-ms")),
            std::stoi(refused.header("retry-after-ms")));
  EXPECT_EQ(metric(standing.server(), "zerohop_queue_refusals_total", R"(cause="repeated")"), 1);
  EXPECT_EQ(metric(standing.server(), "zerohop_queue_refusals_total", R"(cause="requests")"), 1);
  // A new request is looked at as ever, and so is a repetition once a place is free.
  EXPECT_EQ(standing.ask_once().body.find("before its time"), std::string::npos);
  standing.gate().open();
  standing.server().settle();
  EXPECT_EQ(standing.ask_once(again).status, 200);
}

TEST(ServerQueue, SaysOverloadWithTheStatusThatIsConfigured) {
  StandingServer standing([](Config& config) {
    config.queue.requests_max = 1;
    config.queue.overload_status = OverloadStatus::k503;
    config.wire.profiles["hosted"] = "overload=529";
    config.wire.version_profiles["2023-06-01"] = "hosted";
  });
  ASSERT_TRUE(standing.fill(1));
  const Answer refused = standing.ask_once();
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(text_at(refused.json(), "/error/type"), "overloaded_error");
  expect_advice(refused);
  EXPECT_EQ(standing.ask_once("anthropic-version: 2023-06-01\r\n").status, 529);
  EXPECT_EQ(standing.ask_once("", "/v1/chat/completions").status, 503);
}

TEST(ServerQueue, SaysThatAllPermitsAreOut) {
  StandingServer standing([](Config& config) { config.limits.requests_max = 1; });
  ASSERT_TRUE(standing.fill(0));
  const Answer refused = standing.ask_once();
  EXPECT_EQ(refused.status, 529);
  EXPECT_EQ(text_at(refused.json(), "/error/details/error_code"), "queue;permits");
  expect_advice(refused);
}

TEST(ServerQueue, HoldsItsPredictionsAgainstWhatCame) {
  const RunningServer server(always_says("Hello."));
  EXPECT_EQ(post(server, "/v1/messages", kBody).status, 200);
  EXPECT_EQ(post(server, "/v1/messages", kBody).status, 200);
  server.settle();
  EXPECT_EQ(metric(server, "zerohop_ttft_predicted_seconds_count", ""), 1)
      << "of the first nothing was known";
  EXPECT_EQ(
      metric(server, "zerohop_ttft_prediction_error_seconds_count", R"(direction="late")") +
          metric(server, "zerohop_ttft_prediction_error_seconds_count", R"(direction="early")"),
      1);
}

// ---- The states of a request ----

using Edge = std::pair<RequestState, RequestState>;

// Of the requests that are over, the way that each came.
std::set<Edge> edges_of(const RunningServer& server) {
  std::set<Edge> edges;
  server.service().history.latest([&edges](const RequestRecord& record) {
    RequestState from = RequestState::kIdle;
    for (const RequestState state : {RequestState::kReceiving, RequestState::kValidating,
                                     RequestState::kInferring, RequestState::kStreaming}) {
      if (record.in_state[static_cast<std::size_t>(state)] == Duration::zero()) continue;
      edges.emplace(from, state);
      from = state;
    }
    edges.emplace(from, record.state);
    return true;
  });
  return edges;
}

TEST(ServerStates, TakeEveryEdgeThatASessionCanTake) {
  std::set<Edge> edges;
  const auto collect = [&edges](const RunningServer& server) { edges.merge(edges_of(server)); };
  {
    const RunningServer server(TestServerOptions{
        .model = never_ends(), .configure = [](Config& c) { c.limits.requests_max = 2; }});
    EXPECT_EQ(post(server, "/v1/messages", kBody).status, 200);
    EXPECT_EQ(post(server, "/v1/messages", "{").status, 400);
    EXPECT_EQ(post(server, "/v1/messages/count_tokens", kBody).status, 200);
    {
      Socket half(server.port());  // its body never comes whole
      half.send("POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{");
      EXPECT_TRUE(eventually([&] { return server.service().admission.in_flight() == 1; }));
    }
    EXPECT_TRUE(eventually([&] { return server.service().admission.in_flight() == 0; }));
    Socket bad_chunk(server.port());
    bad_chunk.send(
        "POST /v1/messages HTTP/1.1\r\nhost: x\r\nconnection: close\r\n"
        "transfer-encoding: chunked\r\n\r\nzz\r\n");
    EXPECT_EQ(parse_answer(bad_chunk.receive_all()).status, 400);
    server.settle();
    collect(server);
  }
  const std::set<Edge> seen = edges;
  using S = RequestState;
  for (const Edge& edge : std::vector<Edge>{{S::kIdle, S::kReceiving},
                                            {S::kReceiving, S::kValidating},
                                            {S::kReceiving, S::kCancelled},
                                            {S::kReceiving, S::kFailed},
                                            {S::kValidating, S::kInferring},
                                            {S::kValidating, S::kFailed},
                                            {S::kValidating, S::kDone},
                                            {S::kInferring, S::kStreaming},
                                            {S::kStreaming, S::kDone}}) {
    EXPECT_TRUE(seen.contains(edge))
        << request_state_name(edge.first) << " to " << request_state_name(edge.second);
  }
}

// Refused at the door, failed while it waits and in its stream, left while it waits and in its
// stream.
TEST(ServerStates, EndBadlyFromEveryState) {
  std::set<Edge> edges;
  {
    StandingServer standing([](Config& config) { config.queue.requests_max = 1; });
    ASSERT_TRUE(standing.fill(1));
    EXPECT_EQ(standing.ask_once().status, 529);
    edges.merge(edges_of(standing.server()));
  }
  {
    Gate gate(3);
    RunningServer server(TestServerOptions{.model = never_ends(), .gate = &gate});
    const std::string stream =
        R"({"stream":true,"messages":[{"role":"user","content":"Hi"}],"max_tokens":100})";
    auto leaver = std::make_unique<Socket>(server.port());
    leaver->send(bytes_of({"/v1/messages", stream, ""}));
    ASSERT_TRUE(eventually([&] { return gate.reached(); }));
    EXPECT_NE(leaver->receive(), "");
    auto waiter = std::make_unique<Socket>(server.port());
    waiter->send(bytes_of({"/v1/messages", kBody, ""}));
    ASSERT_TRUE(eventually([&] { return server.snapshot().queued == 1; }));
    leaver.reset();
    waiter.reset();
    EXPECT_TRUE(eventually([&] { return server.service().admission.in_flight() == 0; }));
    gate.open();
    server.settle();
    edges.merge(edges_of(server));
  }
  using S = RequestState;
  for (const Edge& edge : std::vector<Edge>{{S::kIdle, S::kFailed},
                                            {S::kInferring, S::kCancelled},
                                            {S::kStreaming, S::kCancelled}}) {
    EXPECT_TRUE(edges.contains(edge))
        << request_state_name(edge.first) << " to " << request_state_name(edge.second);
  }
}

// A model that fails: before a byte is out it is a status, afterwards an event.
TEST(ServerStates, FailWhileTheyWaitAndInTheirStream) {
  FakeModelOptions broken = never_ends();
  std::atomic<int> decodes = 0;
  std::atomic<bool> fails = false;
  broken.fault = [&](std::span<const BatchRow>) {
    if (++decodes <= 4) return DecodeStatus::kOk;
    while (!fails) std::this_thread::yield();
    return DecodeStatus::kFatal;
  };
  const RunningServer server(broken);
  Socket client(server.port());
  client.send(bytes_of(
      {"/v1/messages",
       R"({"stream":true,"messages":[{"role":"user","content":"Hi"}],"max_tokens":100})", ""}));
  std::string bytes = client.receive();
  fails = true;
  bytes += client.receive_all();
  const Answer in_stream = parse_answer(bytes);
  EXPECT_EQ(in_stream.status, 200);
  EXPECT_NE(in_stream.body.find("event: error"), in_stream.body.npos);
  EXPECT_EQ(post(server, "/v1/messages", kBody).status, 500);
  server.settle();
  const std::set<Edge> edges = edges_of(server);
  EXPECT_TRUE(edges.contains({RequestState::kStreaming, RequestState::kFailed}));
  EXPECT_TRUE(edges.contains({RequestState::kInferring, RequestState::kFailed}));
}

}  // namespace
}  // namespace zerohop

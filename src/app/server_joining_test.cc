// Repetitions of a request that runs, through the whole server: one computation, the same bytes for
// all, until the last one has gone.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "app/test_server.h"

namespace zerohop {
namespace {

const std::string kTurn = R"("messages":[{"role":"user","content":"Hi"}],"max_tokens":30)";
const std::string kStream = R"({"stream":true,)" + kTurn + "}";
const std::string kWhole = "{" + kTurn + "}";
const std::string kId = "x-anthropic-request-id: same-1\r\n";

// A server whose model stands still behind its first decodes until open().
class ServerJoining : public testing::Test {
 protected:
  explicit ServerJoining(bool join_retries = false)
      : server_(TestServerOptions{
            .model = never_ends(),
            .configure =
                [join_retries](Config& config) { config.queue.join_retries = join_retries; },
            .gate = &gate_}) {}

  std::unique_ptr<Socket> send(const std::string& body, const std::string& headers = kId,
                               const std::string& path = "/v1/messages") {
    auto socket = std::make_unique<Socket>(server_.port());
    socket->send(bytes_of({path, body, headers}));
    return socket;
  }
  bool computes() const {
    return eventually([this] { return gate_.reached(); });
  }
  bool joined(double count) const {
    return eventually(
        [&] { return metric(server_, "zerohop_requests_joined_total", "") == count; });
  }
  bool in_flight(std::size_t count) const {
    return eventually([&] { return server_.service().admission.in_flight() == count; });
  }
  static Answer read(Socket& socket) { return parse_answer(socket.receive_all()); }
  std::uint64_t computed() const {
    server_.settle();
    return server_.snapshot().requests_finished;
  }

  Gate gate_{2};
  RunningServer server_;
};

TEST_F(ServerJoining, GivesBothTheSameBytesOfOneComputation) {
  for (const std::string& body : {kStream, kWhole}) {
    SCOPED_TRACE(body);
    Gate gate(2);
    const RunningServer server(TestServerOptions{.model = never_ends(), .gate = &gate});
    Socket first(server.port());
    first.send(bytes_of({"/v1/messages", body, kId}));
    ASSERT_TRUE(eventually([&] { return gate.reached(); }));
    Socket second(server.port());
    second.send(bytes_of({"/v1/messages", body, kId}));
    ASSERT_TRUE(
        eventually([&] { return metric(server, "zerohop_requests_joined_total", "") == 1; }));
    gate.open();
    const Answer one = read(first);
    const Answer two = read(second);
    EXPECT_EQ(one.status, 200);
    EXPECT_EQ(two.status, 200);
    EXPECT_EQ(one.body, two.body);
    EXPECT_NE(one.body.find("max_tokens"), one.body.npos) << "it came to its end";
    EXPECT_NE(one.header("request-id"), two.header("request-id"));
    server.settle();
    EXPECT_EQ(server.snapshot().requests_finished, 1u);
    EXPECT_EQ(server.snapshot().output_tokens, 30u);
  }
}

TEST_F(ServerJoining, WorksInTheOtherDialect) {
  const std::string path = "/v1/chat/completions";
  const auto first = send(kStream, kId, path);
  ASSERT_TRUE(computes());
  const auto second = send(kStream, kId, path);
  ASSERT_TRUE(joined(1));
  gate_.open();
  const Answer one = read(*first);
  EXPECT_EQ(one.body, read(*second).body);
  EXPECT_NE(one.body.find("[DONE]"), one.body.npos);
  EXPECT_EQ(computed(), 1u);
}

TEST_F(ServerJoining, GoesOnWhileOneReaderIsLeft) {
  auto first = send(kStream);
  ASSERT_TRUE(computes());
  const auto second = send(kStream);
  ASSERT_TRUE(joined(1));
  first.reset();
  ASSERT_TRUE(in_flight(1));
  gate_.open();
  const Answer answer = read(*second);
  EXPECT_NE(answer.body.find("message_stop"), answer.body.npos) << answer.body;
  EXPECT_EQ(computed(), 1u);
  EXPECT_EQ(server_.snapshot().cancelled_prefill + server_.snapshot().cancelled_decode, 0u);
}

TEST_F(ServerJoining, EndsWhenTheLastReaderHasGone) {
  auto first = send(kStream);
  ASSERT_TRUE(computes());
  auto second = send(kStream);
  ASSERT_TRUE(joined(1));
  first.reset();
  ASSERT_TRUE(in_flight(1));
  second.reset();
  ASSERT_TRUE(in_flight(0));
  gate_.open();
  EXPECT_EQ(computed(), 0u);
  EXPECT_EQ(server_.snapshot().cancelled_prefill + server_.snapshot().cancelled_decode, 1u);
  double cancellations = 0;
  for (const char* phase : {R"(phase="queued")", R"(phase="prefill")", R"(phase="decode")"}) {
    cancellations += metric(server_, "zerohop_cancellations_total", phase);
  }
  EXPECT_EQ(cancellations, 1) << "of the answer, not of each reader";
}

TEST_F(ServerJoining, ComputesAnotherBodyAndAnotherClientByThemselves) {
  const auto first = send(kStream);
  ASSERT_TRUE(computes());
  const auto other_body = send(kWhole);
  const auto other_client = send(kStream, kId + "x-api-key: other\r\n");
  const auto other_id = send(kStream, "x-anthropic-request-id: same-2\r\n");
  const auto no_id = send(kStream, "");
  ASSERT_TRUE(in_flight(5));
  gate_.open();
  for (Socket* socket :
       {first.get(), other_body.get(), other_client.get(), other_id.get(), no_id.get()}) {
    EXPECT_EQ(read(*socket).status, 200);
  }
  EXPECT_EQ(computed(), 5u);
  EXPECT_EQ(metric(server_, "zerohop_requests_joined_total", ""), 0);
}

TEST_F(ServerJoining, BeginsAnewWhenTheFirstIsOver) {
  gate_.open();
  const Answer one = read(*send(kWhole));
  const Answer two = read(*send(kWhole));
  EXPECT_EQ(computed(), 2u);
  EXPECT_NE(text_at(one.json(), "/id"), text_at(two.json(), "/id"));
}

// ---- Each has its own deadline ----

const std::string kSoon = "anthropic-deadline-ms: 1500\r\n";

TEST_F(ServerJoining, TheFirstOnesDeadlineIsNotTheOthers) {
  for (const std::string& body : {kWhole, kStream}) {
    SCOPED_TRACE(body);
    Gate gate(0);
    const RunningServer server(TestServerOptions{.model = never_ends(), .gate = &gate});
    Socket first(server.port());
    first.send(bytes_of({"/v1/messages", body, kId + kSoon}));
    ASSERT_TRUE(eventually([&] { return gate.reached(); }));
    Socket second(server.port());
    second.send(bytes_of({"/v1/messages", body, kId}));
    ASSERT_TRUE(
        eventually([&] { return metric(server, "zerohop_requests_joined_total", "") == 1; }));
    const std::string late = read(first).body;
    EXPECT_NE(late.find("deadline"), late.npos) << late;
    gate.open();
    const Answer whole = read(second);
    EXPECT_EQ(whole.status, 200);
    EXPECT_NE(whole.body.find("max_tokens"), whole.body.npos) << "it came to its end";
    server.settle();
    EXPECT_EQ(server.snapshot().output_tokens, 30u);
    EXPECT_EQ(server.snapshot().deadlines_refused, 0u);
  }
}

TEST_F(ServerJoining, AJoinersDeadlineIsItsOwn) {
  const auto first = send(kStream);
  ASSERT_TRUE(computes());
  const auto second = send(kStream, kId + kSoon);
  ASSERT_TRUE(joined(1));
  const std::string late = read(*second).body;
  EXPECT_NE(late.find("event: error"), late.npos) << late;
  EXPECT_NE(late.find("deadline"), late.npos) << late;
  EXPECT_EQ(late.find("message_stop"), late.npos);
  gate_.open();
  EXPECT_NE(read(*first).body.find("message_stop"), std::string::npos);
  EXPECT_EQ(computed(), 1u);
}

TEST_F(ServerJoining, TheDeadlineOfTheLastOneThatIsLeftHoldsAgain) {
  auto first = send(kWhole);
  ASSERT_TRUE(computes());
  const auto second = send(kWhole, kId + kSoon);
  ASSERT_TRUE(joined(1));
  first.reset();
  ASSERT_TRUE(in_flight(1));
  // The engine ends it, as soon as it gets out of its step.
  const SteadyClock clock;
  const TimePoint over = clock.now() + std::chrono::milliseconds(1500);
  ASSERT_TRUE(eventually([&] { return clock.now() > over; }));
  gate_.open();
  const Answer late = read(*second);
  EXPECT_NE(late.status, 200);
  EXPECT_NE(late.body.find("deadline"), late.body.npos) << late.body;
  EXPECT_EQ(computed(), 0u);
}

// ---- What is counted ----

TEST_F(ServerJoining, CountsItsTokensOnceWhoeverLeavesFirst) {
  auto first = send(kStream);
  ASSERT_TRUE(computes());
  const auto second = send(kStream);
  ASSERT_TRUE(joined(1));
  const auto third = send(kStream);
  ASSERT_TRUE(joined(2));
  first.reset();
  ASSERT_TRUE(in_flight(2));
  gate_.open();
  read(*second);
  read(*third);
  EXPECT_EQ(computed(), 1u);
  EXPECT_EQ(metric(server_, "zerohop_tenant_tokens_total", R"(kind="output")"), 30);
}

TEST_F(ServerJoining, CountsAllAnswersOfARequest) {
  gate_.open();
  const std::string three = R"({"n":3,)" + kTurn + "}";
  EXPECT_EQ(read(*send(three, "", "/v1/chat/completions")).status, 200);
  server_.settle();
  EXPECT_EQ(metric(server_, "zerohop_tenant_tokens_total", R"(kind="output")"), 90);
}

TEST_F(ServerJoining, TellsEverybodyWhyThereIsNoAnswer) {
  gate_.open();
  const std::string body = R"({"max_tokens":"many"})";
  const Answer one = read(*send(body));
  EXPECT_EQ(one.status, 400);
  EXPECT_EQ(read(*send(body)).status, 400);
  EXPECT_EQ(computed(), 0u);
}

class ServerJoiningRetries : public ServerJoining {
 protected:
  ServerJoiningRetries() : ServerJoining(true) {}
};

TEST_F(ServerJoiningRetries, TakeARepetitionForTheSameRequestButNotASecondFirstAttempt) {
  const auto first = send(kStream, "x-stainless-retry-count: 0\r\n");
  ASSERT_TRUE(computes());
  const auto twin = send(kStream, "x-stainless-retry-count: 0\r\n");
  ASSERT_TRUE(in_flight(2));
  const auto repeated = send(kStream, "x-stainless-retry-count: 1\r\n");
  ASSERT_TRUE(joined(1));
  gate_.open();
  const Answer one = read(*first);
  const Answer two = read(*twin);
  const Answer three = read(*repeated);
  EXPECT_NE(one.body, two.body) << "two requests have two ids";
  EXPECT_TRUE(three.body == two.body || three.body == one.body);
  EXPECT_EQ(computed(), 2u);
}

}  // namespace
}  // namespace zerohop

#include "app/server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "app/test_server.h"
#include "base/random.h"
#include "model/fake_model.h"

namespace zerohop {
namespace {

std::string request_bytes(const std::string& path, const std::string& body,
                          const std::string& headers = "") {
  return "POST " + path + " HTTP/1.1\r\nhost: x\r\n" + headers +
         "content-length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string ask_bytes(int max_tokens, bool stream, std::size_t prompt_bytes = 4) {
  return request_bytes("/v1/messages", R"({"max_tokens":)" + std::to_string(max_tokens) +
                                           R"(,"temperature":0,"stream":)" +
                                           (stream ? "true" : "false") +
                                           R"(,"messages":[{"role":"user","content":")" +
                                           std::string(prompt_bytes, 'q') + R"("}]})");
}

TEST(Server, AnswersAndNamesItself) {
  const auto vocabulary = make_fake_model({});
  FakeModelOptions options;
  options.script = fake_reply(*vocabulary, "Paris");
  RunningServer server(options);
  Socket socket(server.port());
  socket.send(request_bytes("/v1/messages",
                            R"({"temperature":0,"messages":[{"role":"user","content":"?"}]})",
                            "connection: close\r\nx-anthropic-request-id: mine\r\n"));
  const std::string answer = socket.receive_all();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_NE(answer.find(R"("text":"Paris")"), std::string::npos);
  EXPECT_NE(answer.find("\r\nrequest-id: req_"), std::string::npos);
  EXPECT_NE(answer.find("\r\nx-anthropic-instance-id: test-1\r\n"), std::string::npos);
  EXPECT_NE(answer.find("\r\nx-anthropic-request-id: mine\r\n"), std::string::npos);
  EXPECT_NE(answer.find("\r\nanthropic-processing-time-ms: "), std::string::npos);
}

TEST(Server, SendsRequestsForAnotherInstanceAway) {
  RunningServer server(FakeModelOptions{});
  Socket socket(server.port());
  socket.send(request_bytes("/v1/messages", "{}",
                            "connection: close\r\nx-anthropic-instance-id: other\r\n"));
  const std::string answer = socket.receive_all();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 421 ")) << answer;
  EXPECT_NE(answer.find("x-should-retry: false"), std::string::npos);
}

TEST(Server, FreesEverythingOfFiveHundredClientsThatLeaveAtRandomPoints) {
  RunningServer server(never_ends());
  Random random(20261129);
  std::vector<Socket> open;
  for (int client = 0; client < 500; ++client) {
    Socket socket(server.port());
    const std::string bytes =
        ask_bytes(static_cast<int>(random.below(400)), random.chance(0.7), 1 + random.below(500));
    // A third leave inside head or body; the others after the request, some having read a little.
    const bool whole = random.chance(0.67);
    socket.send(
        std::string_view(bytes).substr(0, whole ? bytes.size() : random.below(bytes.size())));
    if (whole && random.chance(0.3)) (void)socket.receive();
    if (random.chance(0.3)) socket.close_hard();
    open.push_back(std::move(socket));
    if (open.size() > 20) {
      const auto victim = static_cast<std::ptrdiff_t>(random.below(open.size()));
      std::vector<Socket> kept;
      for (std::size_t i = 0; i < open.size(); ++i) {
        if (static_cast<std::ptrdiff_t>(i) != victim) kept.push_back(std::move(open[i]));
      }
      open.swap(kept);
    }
  }
  open.clear();
  server.settle();
  EXPECT_EQ(server.service().tier().snapshot().cells_reserved, 0u);
  server.server().begin_drain();
  server.join();
  EXPECT_EQ(server.server().http_counts().connections_open, 0u);
  EXPECT_EQ(server.server().http_counts().exchanges_in_flight, 0u);
  EXPECT_EQ(server.service().admission.in_flight(), 0u);
}

TEST(Server, FinishesWhatRunsAndRefusesWhatComesWhileItDrains) {
  RunningServer server(never_ends());
  Socket running(server.port());
  Socket idle(server.port());
  running.send(ask_bytes(300, true));
  std::string stream = running.receive();
  server.server().begin_drain();
  while (!server.service().admission.closed()) std::this_thread::yield();
  idle.send(ask_bytes(1, false));
  const std::string refusal = idle.receive();
  // Either the stream is over and the server gone, or the refusal says when to come back.
  EXPECT_TRUE(refusal.empty() || (refusal.starts_with("HTTP/1.1 503 ") &&
                                  refusal.find("retry-after-ms: ") != std::string::npos))
      << refusal;
  stream += running.receive_all();
  EXPECT_NE(stream.find("event: message_stop"), std::string::npos);
  server.join();
}

TEST(Server, EndsStreamsWithATypedErrorWhenStoppedAtOnce) {
  // The model stands still in the middle of the answer until the stop has begun.
  std::atomic<bool> go_on{false};
  std::atomic<int> steps{0};
  FakeModelOptions options = never_ends();
  options.fault = [&go_on, &steps](std::span<const BatchRow>) {
    while (++steps > 20 && !go_on) std::this_thread::yield();
    return DecodeStatus::kOk;
  };
  RunningServer server(options);
  Socket socket(server.port());
  socket.send(ask_bytes(900, true));
  std::string stream = socket.receive();
  server.server().stop_now();
  while (!server.service().admission.closed()) std::this_thread::yield();
  go_on = true;
  stream += socket.receive_all();
  EXPECT_NE(stream.find("event: error"), std::string::npos);
  EXPECT_EQ(stream.find("event: message_stop"), std::string::npos);
  server.join();
}

}  // namespace
}  // namespace zerohop

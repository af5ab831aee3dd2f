#include "app/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "app/service.h"
#include "base/random.h"
#include "model/fake_model.h"

namespace zerohop {
namespace {

// A whole server on a free port, with a fake model, its I/O thread included.
class RunningServer {
 public:
  explicit RunningServer(FakeModelOptions model) : server_(config(), clock_) {
    const auto endpoint = server_.listen();
    EXPECT_TRUE(endpoint.ok());
    port_ = endpoint->port;
    EXPECT_TRUE(server_.load(make_fake_model(model)).ok());
    io_ = std::thread([this] { server_.run(); });
  }
  ~RunningServer() {
    server_.stop_now();
    if (io_.joinable()) io_.join();
  }

  std::uint16_t port() const { return port_; }
  Server& server() { return server_; }
  const Service& service() const { return server_.service(); }

  /// Waits until no request is anywhere.
  void settle() const {
    while (busy()) std::this_thread::yield();
  }
  void join() { io_.join(); }

 private:
  bool busy() const {
    const EngineSnapshot snapshot = service().tier().snapshot();
    return service().admission.in_flight() + snapshot.running() + snapshot.queued > 0;
  }
  static Config config() {
    Config config;
    config.server.port = 0;
    config.instance.id = "test-1";
    config.engine.context_tokens = 1024;
    config.engine.sequences = 4;
    return config;
  }

  SteadyClock clock_;
  Server server_;
  std::uint16_t port_ = 0;
  std::thread io_;
};

class Socket {
 public:
  explicit Socket(std::uint16_t port) : descriptor_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr generic{};
    std::memcpy(&generic, &address, sizeof generic);
    EXPECT_EQ(connect(descriptor_, &generic, sizeof generic), 0);
  }
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&&) = delete;
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  void send(std::string_view bytes) {
    // The server may have closed already: then there is nobody to send to.
    (void)::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  /// Some bytes; empty when the server closed.
  std::string receive() {
    char buffer[4096];
    const ssize_t count = recv(descriptor_, buffer, sizeof buffer, 0);
    return count > 0 ? std::string(buffer, static_cast<std::size_t>(count)) : std::string();
  }
  std::string receive_all() {
    std::string all;
    for (std::string part = receive(); !part.empty(); part = receive()) all += part;
    return all;
  }
  /// The next close sends a reset instead of an orderly end.
  void close_hard() {
    const linger now{1, 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }

 private:
  int descriptor_;
};

std::string request(const std::string& path, const std::string& body,
                    const std::string& headers = "") {
  return "POST " + path + " HTTP/1.1\r\nhost: x\r\n" + headers +
         "content-length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string ask(int max_tokens, bool stream, std::size_t prompt_bytes = 4) {
  return request("/v1/messages", R"({"max_tokens":)" + std::to_string(max_tokens) +
                                     R"(,"temperature":0,"stream":)" + (stream ? "true" : "false") +
                                     R"(,"messages":[{"role":"user","content":")" +
                                     std::string(prompt_bytes, 'q') + R"("}]})");
}

FakeModelOptions never_ends() {
  FakeModelOptions options;
  options.end_of_turn_chance = 0;
  return options;
}

TEST(Server, AnswersAndNamesItself) {
  const auto vocabulary = make_fake_model({});
  FakeModelOptions options;
  options.script = fake_reply(*vocabulary, "Paris");
  RunningServer server(options);
  Socket socket(server.port());
  socket.send(request("/v1/messages",
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
  RunningServer server({});
  Socket socket(server.port());
  socket.send(
      request("/v1/messages", "{}", "connection: close\r\nx-anthropic-instance-id: other\r\n"));
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
        ask(static_cast<int>(random.below(400)), random.chance(0.7), 1 + random.below(500));
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
  running.send(ask(300, true));
  std::string stream = running.receive();
  server.server().begin_drain();
  while (!server.service().admission.closed()) std::this_thread::yield();
  idle.send(ask(1, false));
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
  socket.send(ask(900, true));
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

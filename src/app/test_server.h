// For tests: a whole server on a free port with a fake model, its I/O thread included, and a client
// of a few lines that speaks to it through a socket.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "app/server.h"
#include "app/service.h"
#include "base/clock.h"
#include "model/fake_model.h"
#include "model/llama_test_bert.h"

namespace zerohop {

/// Waits until `condition` holds; false when it still does not after a time in which anything that
/// works at all has happened.
template <class Condition>
bool eventually(Condition condition) {
  const SteadyClock clock;
  const TimePoint deadline = clock.now() + std::chrono::seconds(30);
  while (!condition()) {
    if (clock.now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

/// Makes a fake model stand still behind some decodes until it is told to go on.
class Gate {
 public:
  explicit Gate(int decodes) : left_(decodes) {}

  FakeFault fault() {
    return [this](std::span<const BatchRow>) {
      if (left_-- <= 0) {
        while (!open_) {
          reached_ = true;
          std::this_thread::yield();
        }
      }
      return DecodeStatus::kOk;
    };
  }
  bool reached() const { return reached_; }
  void open() { open_ = true; }

 private:
  std::atomic<int> left_;
  std::atomic<bool> reached_{false};
  std::atomic<bool> open_{false};
};

/// The real time, but it was noon when it was made: no day ends while a test runs.
class NoonClock final : public Clock {
 public:
  TimePoint now() const override { return real_.now(); }
  WallTime wall() const override { return noon_ + (real_.now() - began_); }

 private:
  const SteadyClock real_;
  const TimePoint began_ = real_.now();
  const WallTime noon_ =
      std::chrono::floor<std::chrono::days>(real_.wall()) + std::chrono::hours(12);
};

struct TestServerOptions {
  FakeModelOptions model;
  std::function<void(Config& config)> configure = nullptr;
  std::filesystem::path batches = {};  ///< empty: none
  Gate* gate = nullptr;  ///< put into the model; outlives the server, which opens it when it goes
  const TestBertFile* embeddings = nullptr;  ///< makes the vectors; null: the fake model does
  std::filesystem::path warm = {};  ///< where states of warm prefixes are kept; empty: nowhere
  ModelPreparation preparation = {};
  std::string keys = {};             ///< file of the key store; empty: none
  std::string admin_token = {};      ///< opens the admin API on a free port; empty: none
  std::filesystem::path usage = {};  ///< empty: usage is not kept
  std::function<Result<LoadedConfig>()> read_config = nullptr;  ///< what a reload reads
  const Clock* clock = nullptr;  ///< outlives the server; null: the real one
};

class RunningServer {
 public:
  explicit RunningServer(FakeModelOptions model)
      : RunningServer(TestServerOptions{std::move(model)}) {}
  explicit RunningServer(const TestServerOptions& options)
      : gate_(options.gate),
        server_(config(options), options.clock == nullptr ? real_clock_ : *options.clock) {
    if (!options.keys.empty()) {
      const auto kept = server_.keep_keys(options.keys);
      EXPECT_TRUE(kept.ok()) << kept.error().message;
    }
    if (!options.admin_token.empty()) {
      const auto admin = server_.serve_admin(options.admin_token);
      EXPECT_TRUE(admin.ok());
      admin_port_ = admin->port;
    }
    const auto endpoint = server_.listen();
    EXPECT_TRUE(endpoint.ok());
    port_ = endpoint->port;
    FakeModelOptions model = options.model;
    if (gate_ != nullptr) model.fault = gate_->fault();
    auto embeddings = options.embeddings == nullptr ? nullptr : options.embeddings->load();
    EXPECT_TRUE(server_.load(make_fake_model(model), std::move(embeddings)).ok());
    if (!options.batches.empty()) {
      const auto kept = server_.keep_batches(options.batches);
      EXPECT_TRUE(kept.ok()) << kept.error().message;
    }
    if (!options.usage.empty()) {
      const auto kept = server_.keep_usage(options.usage);
      EXPECT_TRUE(kept.ok()) << kept.error().message;
    }
    if (options.read_config) server_.follow_config(options.read_config);
    server_.show_preparation(options.preparation);
    const auto warmed = server_.warm_up({options.warm, "fake"});
    EXPECT_TRUE(warmed.ok()) << warmed.error().message;
    io_ = std::thread([this] { server_.run(); });
  }
  ~RunningServer() {
    server_.stop_now();
    if (gate_ != nullptr) gate_->open();
    if (io_.joinable()) io_.join();
  }
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;

  std::uint16_t port() const { return port_; }
  std::uint16_t admin_port() const { return admin_port_; }
  Server& server() { return server_; }
  const Service& service() const { return server_.service(); }
  EngineSnapshot snapshot() const { return service().tier().snapshot(); }

  /// Waits until no request is anywhere.
  void settle() const {
    EXPECT_TRUE(eventually([this] { return !busy(); }));
  }
  void join() { io_.join(); }

 private:
  bool busy() const {
    const EngineSnapshot now = snapshot();
    return service().admission.in_flight() + now.running() + now.queued + now.embeddings > 0;
  }
  static Config config(const TestServerOptions& options) {
    Config config;
    config.server.port = 0;
    config.instance.id = "test-1";
    config.engine.context_tokens = 1024;
    config.engine.sequences = 4;
    if (!options.admin_token.empty()) config.admin.listen = "127.0.0.1:0";
    if (options.configure) options.configure(config);
    return config;
  }

  Gate* const gate_;
  const SteadyClock real_clock_;
  Server server_;
  std::uint16_t port_ = 0;
  std::uint16_t admin_port_ = 0;
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

struct TestRequest {
  std::string path;
  std::string body;
  std::string headers;  ///< whole lines
  std::string method = "POST";
};

/// The bytes of `request`. The server closes behind its answer.
inline std::string bytes_of(const TestRequest& request) {
  return request.method + " " + request.path + " HTTP/1.1\r\nhost: x\r\nconnection: close\r\n" +
         request.headers + "content-length: " + std::to_string(request.body.size()) + "\r\n\r\n" +
         request.body;
}

struct SseFrame {
  std::string event;  ///< empty where the dialect names none
  std::string data;
  boost::json::value json() const { return boost::json::parse(data); }
};

struct Answer {
  int status = 0;
  std::string head;
  std::string body;  ///< without the marks of its chunks

  boost::json::value json() const { return boost::json::parse(body); }
  /// Of one field of the head; empty when it is not there.
  std::string header(std::string_view name) const {
    const std::string wanted = "\r\n" + std::string(name) + ": ";
    const std::size_t found = head.find(wanted);
    if (found == head.npos) return {};
    const std::size_t begin = found + wanted.size();
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
  /// The events of a stream; comments are left out.
  std::vector<SseFrame> frames() const {
    std::vector<SseFrame> frames;
    for (std::size_t at = 0; at < body.size();) {
      const std::size_t end = std::min(body.find("\n\n", at), body.size());
      SseFrame frame;
      for (std::size_t line = at; line < end;) {
        const std::size_t stop = std::min(body.find('\n', line), end);
        const std::string text = body.substr(line, stop - line);
        if (text.starts_with("event: ")) frame.event = text.substr(7);
        if (text.starts_with("data: ")) frame.data = text.substr(6);
        line = stop + 1;
      }
      if (!frame.data.empty()) frames.push_back(std::move(frame));
      at = end + 2;
    }
    return frames;
  }
};

/// An answer out of all the bytes that a server sent.
inline Answer parse_answer(const std::string& bytes) {
  Answer answer;
  const std::size_t split = std::min(bytes.find("\r\n\r\n"), bytes.size());
  answer.head = bytes.substr(0, split) + "\r\n";
  if (answer.head.size() > 12) answer.status = std::stoi(answer.head.substr(9, 3));
  std::string rest = bytes.substr(std::min(split + 4, bytes.size()));
  if (answer.header("transfer-encoding") != "chunked") {
    answer.body = std::move(rest);
    return answer;
  }
  for (std::size_t at = 0; at < rest.size();) {
    const std::size_t line = rest.find("\r\n", at);
    const std::size_t size = std::stoul(rest.substr(at, line - at), nullptr, 16);
    if (size == 0) break;
    answer.body += rest.substr(line + 2, size);
    at = line + 2 + size + 2;
  }
  return answer;
}

inline Answer ask_port(std::uint16_t port, const TestRequest& request) {
  Socket socket(port);
  socket.send(bytes_of(request));
  return parse_answer(socket.receive_all());
}

/// One request on a connection of its own.
inline Answer ask(const RunningServer& server, const TestRequest& request) {
  return ask_port(server.port(), request);
}

inline constexpr const char* kAdminToken = "a-token-of-the-operator";

/// The same at the admin listener. An empty token is not sent.
inline Answer ask_admin(const RunningServer& server, TestRequest request,
                        const std::string& token = kAdminToken) {
  if (!token.empty()) request.headers += "authorization: Bearer " + token + "\r\n";
  return ask_port(server.admin_port(), request);
}

inline Answer post(const RunningServer& server, const std::string& path, const std::string& body) {
  return ask(server, {path, body, ""});
}

inline Answer get(const RunningServer& server, const std::string& path) {
  return ask(server, {path, "", "", "GET"});
}

/// What stands at a JSON pointer, as text; a string without its quotes. Nothing there: "(none)".
inline std::string text_at(const boost::json::value& value, std::string_view pointer) {
  boost::system::error_code fault;
  const boost::json::value* found = value.find_pointer(pointer, fault);
  if (found == nullptr) return "(none)";
  if (found->is_string()) return std::string(found->get_string());
  return boost::json::serialize(*found);
}

inline std::int64_t number_at(const boost::json::value& value, std::string_view pointer) {
  boost::system::error_code fault;
  const boost::json::value* found = value.find_pointer(pointer, fault);
  EXPECT_TRUE(found != nullptr && found->is_int64()) << pointer;
  return found != nullptr && found->is_int64() ? found->get_int64() : -1;
}

/// The value of the first series of the metrics page that has that name and these labels (as they
/// stand there, side by side); 0 when there is none.
inline double metric(const RunningServer& server, const std::string& name,
                     const std::string& labels) {
  const std::string page = get(server, "/metrics").body;
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t end = std::min(page.find('\n', at), page.size());
    const std::string line = page.substr(at, end - at);
    if (line.starts_with(name + "{") && line.find(labels) != line.npos) {
      return std::stod(line.substr(line.rfind(' ')));
    }
    at = end + 1;
  }
  return 0;
}

inline FakeModelOptions never_ends() {
  FakeModelOptions options;
  options.end_of_turn_chance = 0;
  return options;
}

/// A model that answers everything with `text`, whatever the sampling.
inline FakeModelOptions always_says(const std::string& text) {
  FakeModelOptions options;
  options.script = fake_reply(*make_fake_model({}), text);
  options.script_logit = 60;
  return options;
}

}  // namespace zerohop

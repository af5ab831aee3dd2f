// What the socket tests share: a server on a thread of its own, a client that speaks raw bytes, and
// a latch that handlers wait at. Test code.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "http/server.h"

namespace zerohop {

/// A latch of the I/O thread. The timers live in the waiting coroutines, so that a latch may
/// outlive the server.
class Latch {
 public:
  Awaitable<void> wait() {
    if (open_) co_return;
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor,
                                    boost::asio::steady_timer::time_point::max());
    waiting_.push_back(&timer);
    co_await timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    std::erase(waiting_, &timer);
  }
  void open() {
    open_ = true;
    pulse();
  }
  /// Lets those pass who wait now.
  void pulse() {
    for (boost::asio::steady_timer* timer : waiting_) timer->cancel();
  }
  std::size_t waiting() const { return waiting_.size(); }

 private:
  std::vector<boost::asio::steady_timer*> waiting_;
  bool open_ = false;
};

class TestServer {
 public:
  explicit TestServer(Router router, ServerOptions options = {}, ServerHooks hooks = {},
                      const Clock* clock = nullptr)
      : server_(std::make_unique<HttpServer>(io_, clock != nullptr ? *clock : steady_clock_,
                                             options, std::move(hooks), std::move(router))),
        thread_([this] { io_.run(); }) {}
  ~TestServer() {
    on_io([this] { server_.reset(); });
    io_.stop();
    thread_.join();
  }

  template <class Function>
  std::invoke_result_t<Function> on_io(Function function) {
    std::packaged_task<std::invoke_result_t<Function>()> task(std::move(function));
    auto result = task.get_future();
    boost::asio::post(io_, [&task] { task(); });
    return result.get();
  }

  Endpoint listen(const std::string& host = "127.0.0.1") {
    return on_io([&] { return server_->listen_tcp(host, 0); }).value();
  }
  ServerCounts counts() {
    return on_io([this] { return server_->counts(); });
  }
  /// Turns of the event loop until `condition`, which runs on the I/O thread. False after very
  /// many.
  template <class Condition>
  bool eventually(Condition condition) {
    for (int i = 0; i < 2'000'000; ++i) {
      if (on_io(condition)) return true;
    }
    return false;
  }
  bool eventually_idle() {
    return eventually([this] {
      const ServerCounts& counts = server_->counts();
      return counts.connections_open == 0 && counts.exchanges_in_flight == 0;
    });
  }
  HttpServer& server() { return *server_; }

 private:
  SteadyClock steady_clock_;
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      io_.get_executor()};
  std::unique_ptr<HttpServer> server_;
  std::thread thread_;
};

struct ClientResponse {
  int status = 0;
  std::string head;  // with the status line
  Headers headers;
  std::string body;
  bool complete = false;  // framed to its end
};

/// A blocking socket. Every wait ends after 20 s, so that a failing test does not hang.
class Client {
 public:
  explicit Client(const Endpoint& endpoint) {
    if (!endpoint.unix_path.empty()) {
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      std::copy(endpoint.unix_path.begin(), endpoint.unix_path.end(), address.sun_path);
      open(AF_UNIX, &address, sizeof address);
    } else if (endpoint.host.find(':') != std::string::npos) {
      sockaddr_in6 address{};
      address.sin6_family = AF_INET6;
      address.sin6_addr = in6addr_loopback;
      address.sin6_port = htons(endpoint.port);
      open(AF_INET6, &address, sizeof address);
    } else {
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      address.sin_port = htons(endpoint.port);
      open(AF_INET, &address, sizeof address);
    }
  }
  Client(Client&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), input_(std::move(other.input_)) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  Client& operator=(Client&&) = delete;
  virtual ~Client() { close(); }

  bool connected() const { return connected_; }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send_some(bytes);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  /// One recv; empty at the end or on an error.
  std::string receive() {
    if (!input_.empty()) return std::exchange(input_, std::string());
    std::string buffer(64 << 10, '\0');
    const ssize_t got = receive_some(buffer);
    buffer.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return buffer;
  }
  std::string receive_until_close() {
    std::string all;
    for (std::string piece = receive(); !piece.empty(); piece = receive()) all += piece;
    return all;
  }
  bool closed_by_server() { return receive().empty(); }

  ClientResponse receive_response(bool head_request = false) {
    ClientResponse response;
    if (!fill_until("\r\n\r\n")) return response;
    response.head = take(input_.find("\r\n\r\n") + 4);
    parse_head(response);
    if (response.status == 100) return response;
    const auto length = response.headers.find("content-length");
    if (head_request || response.status == 204) {
      response.complete = true;
    } else if (length) {
      const std::size_t wanted = std::stoul(std::string(*length));
      response.complete = fill(wanted);
      response.body = take(std::min(wanted, input_.size()));
    } else if (response.headers.find("transfer-encoding") == "chunked") {
      response.complete = take_chunks(response.body);
    } else {
      response.body = receive_until_close();
    }
    return response;
  }
  ClientResponse exchange(std::string_view request) {
    EXPECT_TRUE(send(request));
    return receive_response();
  }

  void finish_sending() { ::shutdown(descriptor_, SHUT_WR); }
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }
  /// Closes with a reset.
  void reset() {
    const linger now{1, 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close();
  }

 protected:
  virtual ssize_t send_some(std::string_view bytes) {
    return ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  virtual ssize_t receive_some(std::string& buffer) {
    return ::recv(descriptor_, buffer.data(), buffer.size(), 0);
  }
  int descriptor() const { return descriptor_; }

 private:
  void open(int family, const void* address, socklen_t bytes) {
    descriptor_ = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval patience{20, 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    connected_ = ::connect(descriptor_, static_cast<const sockaddr*>(address), bytes) == 0;
  }
  bool read_more() {
    std::string kept = std::exchange(input_, std::string());
    const std::string more = receive();
    input_ = std::move(kept) + more;
    return !more.empty();
  }
  bool fill(std::size_t bytes) {
    while (input_.size() < bytes) {
      if (!read_more()) return false;
    }
    return true;
  }
  bool fill_until(std::string_view mark) {
    while (input_.find(mark) == std::string::npos) {
      if (!read_more()) return false;
    }
    return true;
  }
  std::string take(std::size_t bytes) {
    std::string front = input_.substr(0, bytes);
    input_.erase(0, bytes);
    return front;
  }
  bool take_chunks(std::string& body) {
    while (fill_until("\r\n")) {
      const std::size_t size = std::stoul(take(input_.find("\r\n") + 2), nullptr, 16);
      if (!fill(size + 2)) return false;
      body += take(size);
      take(2);
      if (size == 0) return true;
    }
    return false;
  }
  static void parse_head(ClientResponse& response) {
    response.status = std::stoi(response.head.substr(9, 3));
    std::size_t line = response.head.find("\r\n") + 2;
    while (line + 2 < response.head.size()) {
      const std::size_t end = response.head.find("\r\n", line);
      const std::string text = response.head.substr(line, end - line);
      const std::size_t colon = text.find(": ");
      response.headers.add(text.substr(0, colon), text.substr(colon + 2));
      line = end + 2;
    }
  }

  int descriptor_ = -1;
  bool connected_ = false;
  std::string input_;
};

inline std::string get(std::string_view path) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: test\r\n\r\n";
}

inline std::string post(std::string_view path, std::string_view body) {
  return "POST " + std::string(path) +
         " HTTP/1.1\r\nHost: test\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

inline HttpResponse text_response(std::string body) {
  HttpResponse response;
  response.headers.push_back(HeaderField{"content-type", "text/plain"});
  response.body = std::move(body);
  return response;
}

/// GET /hello → `hello`; POST /echo → the body; GET /items/{id} → the id.
inline Router basic_router() {
  Router router;
  router.add("GET", "/hello", [](Exchange& exchange) -> Awaitable<void> {
    HttpResponse response = text_response("hello");
    co_await exchange.respond(std::move(response));
  });
  router.add("POST", "/echo", [](Exchange& exchange) -> Awaitable<void> {
    HttpResponse response = text_response(exchange.take_body());
    co_await exchange.respond(std::move(response));
  });
  router.add("GET", "/items/{id}", [](Exchange& exchange) -> Awaitable<void> {
    HttpResponse response = text_response(exchange.parameters().get("id"));
    co_await exchange.respond(std::move(response));
  });
  return router;
}

}  // namespace zerohop

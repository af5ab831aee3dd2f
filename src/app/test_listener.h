// For tests: a listening socket on a port of its own of 127.0.0.1, for servers that no HttpServer
// would be.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace zerohop {

/// Takes connections, as far as the kernel does that, and says nothing.
class TestListener {
 public:
  TestListener() : descriptor_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr generic{};
    std::memcpy(&generic, &address, sizeof generic);
    EXPECT_EQ(bind(descriptor_, &generic, sizeof generic), 0);
    EXPECT_EQ(listen(descriptor_, 4), 0);
    socklen_t size = sizeof generic;
    EXPECT_EQ(getsockname(descriptor_, &generic, &size), 0);
    std::memcpy(&address, &generic, sizeof address);
    port_ = ntohs(address.sin_port);
  }
  ~TestListener() { close(descriptor_); }
  TestListener(const TestListener&) = delete;
  TestListener& operator=(const TestListener&) = delete;

  std::uint16_t port() const { return port_; }

  /// Waits for a connection; below 0 once stop() has been called.
  int take() { return accept(descriptor_, nullptr, nullptr); }
  /// Wakes whoever waits in take(). Any thread.
  void stop() { shutdown(descriptor_, SHUT_RDWR); }

 private:
  const int descriptor_;
  std::uint16_t port_ = 0;
};

/// Takes one connection, on a thread of its own, and does with it what it is told.
class OneConnection {
 public:
  using Play = std::function<void(int descriptor)>;

  explicit OneConnection(Play play)
      : thread_([this, play = std::move(play)] {
          const int descriptor = listener_.take();
          if (descriptor < 0) return;
          play(descriptor);
          close(descriptor);
        }) {}
  ~OneConnection() {
    listener_.stop();
    thread_.join();
  }
  OneConnection(const OneConnection&) = delete;
  OneConnection& operator=(const OneConnection&) = delete;

  std::uint16_t port() const { return listener_.port(); }

 private:
  TestListener listener_;
  std::thread thread_;
};

inline void send_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

/// All that comes until it ends with `end`, or the other side has closed.
inline std::string receive_until(int descriptor, std::string_view end) {
  std::string all;
  char buffer[4096];
  while (!all.ends_with(end)) {
    const ssize_t count = recv(descriptor, buffer, sizeof buffer, 0);
    if (count <= 0) break;
    all.append(buffer, static_cast<std::size_t>(count));
  }
  return all;
}

}  // namespace zerohop

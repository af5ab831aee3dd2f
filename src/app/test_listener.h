// For tests: a listening socket on a port of its own of 127.0.0.1, for servers that no HttpServer
// would be.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

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

}  // namespace zerohop

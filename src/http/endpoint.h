// Where a server listens. A plain value; any thread.
#pragma once

#include <cstdint>
#include <string>

namespace zerohop {

enum class Transport : std::uint8_t { kPlain, kTls };

struct Endpoint {
  std::string host;        ///< numeric address; empty for a Unix socket
  std::uint16_t port = 0;  ///< the real one, also when 0 was asked for
  std::string unix_path;
  Transport transport = Transport::kPlain;

  /// `http://127.0.0.1:8080`, `https://[::1]:8080`, `unix:/run/zerohop.sock`.
  std::string url() const {
    if (!unix_path.empty()) return "unix:" + unix_path;
    const bool v6 = host.find(':') != std::string::npos;
    const char* scheme = transport == Transport::kTls ? "https://" : "http://";
    return scheme + (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
  }
};

}  // namespace zerohop

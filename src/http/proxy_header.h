// The PROXY protocol, versions 1 and 2 (haproxy.org/download/2.9/doc/proxy-protocol.txt): what a
// balancer of layer 4 writes in front of a connection, so that the server behind it learns who
// connected. A pure function; internal to http.
//
// Strict, because two readers that disagree on where the header ends let a client write into the
// part that is trusted: version 1 wants one blank between words, numbers without leading zeros and
// addresses of the family that it names; version 2 wants a known version, command and family, room
// for the addresses and whole TLV fields behind them, and a CRC32C that is right where there is
// one. Bounded: kProxyV1BytesMax, kProxyV2BytesMax.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ip_address.h"

namespace zerohop {

/// "PROXY" and all that may follow on its line, as the specification counts it.
inline constexpr std::size_t kProxyV1BytesMax = 107;
/// With its TLV fields, of which balancers send at most some hundred bytes (names, ids, ALPN).
inline constexpr std::size_t kProxyV2BytesMax = 4'096;

struct ProxyScan {
  enum class State : std::uint8_t {
    kNeedMore,
    kHeader,  ///< `bytes` of it
    kNone,    ///< what comes is no such header
    kFailed,  ///< it begins like one and is malformed; `fault` says why
  };
  State state = State::kNeedMore;
  std::size_t bytes = 0;
  /// Who connected. Not known where the header does not say (UNKNOWN, UNSPEC, Unix sockets) or
  /// where the balancer speaks for itself (LOCAL: its own health checks).
  IpAddress source;
  std::string_view fault = {};  ///< static text
};

/// `bytes`: all that has come since the connection began.
ProxyScan scan_proxy_header(std::string_view bytes);

}  // namespace zerohop

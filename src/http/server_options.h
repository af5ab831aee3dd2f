// What a server is told (limits, time-outs, hooks) and what it tells (counts, summaries).
//
// Every hook runs on the I/O thread and must not block. A hook that throws costs its connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/ip_address.h"
#include "core/error.h"
#include "core/limits.h"
#include "http/message.h"
#include "http/tls_context.h"

namespace zerohop {

enum class CorsPolicy : std::uint8_t {
  kOff,
  /// Answers preflights with whatever the browser asks for, and lets every origin read every
  /// answer. Credentials of the browser are never involved: keys travel in headers that a page sets
  /// itself.
  kAnyOrigin,
};

/// Whether connections begin with a header of the PROXY protocol (proxy_header.h).
enum class ProxyPolicy : std::uint8_t {
  kOff,
  kOptional,  ///< from trusted peers it is read where there is one
  kRequired,  ///< nobody is served without one, so only trusted peers are
};

struct ServerOptions {
  std::size_t connections_max = limits::kConnectionsMax;
  std::size_t head_bytes_max = limits::kHeadBytesMax;
  std::size_t body_bytes_max = limits::kBodyBytesMax;
  /// Bytes read ahead of the request that is being answered.
  std::size_t pipelined_bytes_max = limits::kPipelinedBytesMax;
  std::size_t body_bytes_per_second_min = limits::kBodyBytesPerSecondMin;
  std::size_t dropped_body_bytes_max = limits::kDroppedBodyBytesMax;
  Duration head_timeout = limits::kHeadTimeout;
  Duration body_timeout = limits::kBodyTimeout;
  Duration idle_timeout = limits::kIdleTimeout;
  Duration write_timeout = limits::kWriteTimeout;
  Duration linger_timeout = limits::kLingerTimeout;
  CorsPolicy cors = CorsPolicy::kOff;
  ProxyPolicy proxy = ProxyPolicy::kOff;
  /// Peers whose PROXY header is believed; on a Unix socket everybody's is. Others' is refused.
  std::vector<IpNetwork> proxy_from;
  /// With it TCP listeners speak TLS and nothing else. Unix sockets never do.
  std::shared_ptr<const TlsContext> tls;
  Duration handshake_timeout = limits::kHandshakeTimeout;
};

/// What the hooks get to know about the exchange at hand.
struct ExchangeContext {
  const RequestHead* head;  ///< null when no head could be parsed
  /// Whatever on_request and on_head left there; empty where they were not asked (heads that could
  /// not be parsed). Every hook may set it, for example to a new request id, and all
  /// later hooks of the exchange see it. Dropped after on_done.
  std::shared_ptr<void>& ticket;
  TimePoint received_at;  ///< first byte of the head
};

enum class ExchangeEnd : std::uint8_t {
  kCompleted,
  kPeerGone,  ///< the peer closed or reset before it had the whole answer
  kAborted,   ///< a stream was cut off by us
  kTimedOut,  ///< the peer was too slow, sending or reading
};

/// For logs and metrics. Views and pointers are valid during the call only.
struct ExchangeSummary {
  const RequestHead* head;  ///< null when no head could be parsed
  const std::shared_ptr<void>& ticket;
  std::string_view route;  ///< the pattern; empty when none matched
  int status;              ///< 0 when nothing was answered
  ExchangeEnd end;
  bool streamed;
  std::uint64_t request_body_bytes;
  std::uint64_t response_bytes;  ///< head and framing included
  TimePoint received_at;
  Duration until_first_byte;  ///< from received_at to the head of the answer; zero when status is 0
  Duration total;
};

struct ServerHooks {
  /// Once for every connection, when it is known who is at the other end and before anything else
  /// is done for it; not known for Unix sockets. False closes it. The ticket lives as long as the
  /// connection is served.
  std::function<bool(const IpAddress& peer, std::shared_ptr<void>& ticket)> on_connection;
  /// First of all for every request whose head could be parsed, also where nothing answers to its
  /// path. A response refuses the request. The ticket is the one that on_head gets.
  std::function<std::optional<HttpResponse>(const RequestHead&, std::shared_ptr<void>& ticket)>
      on_request;
  /// Before the body is read, for requests that have a handler. A response refuses the request. The
  /// ticket lives until the last byte of the answer is handed to the socket and on_done has run.
  std::function<std::optional<HttpResponse>(const RequestHead&, std::shared_ptr<void>& ticket)>
      on_head;
  /// The answer to what http itself refuses, in the dialect of the path: codes kInvalidRequest,
  /// kNotFound, kMethodNotAllowed, kRequestTimeout, kRequestTooLarge, kHeadTooLarge, kInternal.
  /// Without it: the message as plain text with the status of the code.
  std::function<HttpResponse(const ExchangeContext&, const Error&)> error_response;
  /// Adds common fields (a request id) just before any response head is put into bytes: answers of
  /// handlers, streams, refusals and errors alike.
  std::function<void(const ExchangeContext&, ResponseHead&)> decorate;
  /// Once for every exchange, also for those that were never answered.
  std::function<void(const ExchangeSummary&)> on_done;
};

struct ServerCounts {
  // Now; all zero once every peer is gone.
  std::size_t connections_open = 0;
  std::size_t exchanges_in_flight = 0;
  // Since the start.
  std::uint64_t connections_accepted = 0;
  std::uint64_t connections_refused = 0;    ///< over connections_max
  std::uint64_t connections_unwelcome = 0;  ///< refused by ServerHooks::on_connection
  std::uint64_t proxy_headers = 0;          ///< read from trusted peers
  std::uint64_t proxy_refused = 0;          ///< malformed, missing, late or from somebody else
  std::uint64_t tls_handshakes = 0;         ///< that succeeded
  std::uint64_t tls_resumed = 0;            ///< of these, those that went on with an old session
  std::uint64_t tls_faults = 0;             ///< failed or late handshakes, broken records
  std::uint64_t accept_faults = 0;          ///< no descriptors, no memory; accepting backs off
  std::uint64_t exchanges = 0;
  std::uint64_t heads_malformed = 0;     ///< 400 and 431 before there was a head
  std::uint64_t requests_truncated = 0;  ///< the peer went away inside a head or body
  std::uint64_t timeouts = 0;            ///< head, body and write; idle closes are not counted
  std::uint64_t handler_faults = 0;      ///< threw, or ended without an answer
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t socket_writes = 0;  ///< system calls that sent something
};

}  // namespace zerohop

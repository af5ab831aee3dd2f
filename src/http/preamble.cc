#include "http/preamble.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "http/proxy_header.h"

namespace zerohop {
namespace {

Preamble close_silently() {
  Preamble preamble;
  preamble.result = Preamble::Result::kClose;
  return preamble;
}

Preamble refuse(std::string message) {
  Preamble preamble;
  preamble.result = Preamble::Result::kRefuse;
  preamble.fault = invalid_request("", std::move(message));
  return preamble;
}

// ---- The balancer's header ----

// Who may say on whose behalf they speak. A Unix socket's file mode has decided that already.
bool is_trusted(const ServerState& state, const IpAddress& peer) {
  return !peer.known() ||
         std::ranges::any_of(state.options.proxy_from,
                             [&peer](const IpNetwork& network) { return network.contains(peer); });
}

// Told once for each connection, at a level that a flood does not fill disks with.
Preamble refuse_header(ServerState& state, const Connection& connection, std::string_view reason) {
  ++state.counts.proxy_refused;
  log_debug("connection refused",
            {{"peer", connection.remote_address()}, {"reason", std::string(reason)}});
  return refuse(std::string(reason));
}

constexpr std::string_view kNotTrusted =
    "this peer may not send a PROXY header: it is not in server.proxy_protocol_from";
constexpr std::string_view kMissing =
    "connections here begin with a PROXY header (server.proxy_protocol)";

// What a scan means for this peer; kServe: go on without or behind the header.
Preamble judge_header(ServerState& state, Connection& connection, const ProxyScan& scan) {
  const bool trusted = is_trusted(state, connection.peer());
  switch (scan.state) {
    case ProxyScan::State::kHeader:
      if (!trusted) return refuse_header(state, connection, kNotTrusted);
      connection.consume(scan.bytes);
      ++state.counts.proxy_headers;
      if (scan.source.known()) connection.set_peer(scan.source);
      return {};
    case ProxyScan::State::kFailed:
      return refuse_header(state, connection, trusted ? scan.fault : kNotTrusted);
    case ProxyScan::State::kNone:
    case ProxyScan::State::kNeedMore: break;
  }
  if (state.options.proxy == ProxyPolicy::kRequired) {
    return refuse_header(state, connection, kMissing);
  }
  return {};
}

Awaitable<Preamble> read_proxy_header(ServerState& state, Connection& connection, TimePoint until) {
  // Nothing that such a peer could send would make it welcome.
  if (state.options.proxy == ProxyPolicy::kRequired && !is_trusted(state, connection.peer())) {
    co_return refuse_header(state, connection, kNotTrusted);
  }
  while (true) {
    const ProxyScan scan = scan_proxy_header(connection.buffered());
    if (scan.state != ProxyScan::State::kNeedMore) {
      co_return judge_header(state, connection, scan);
    }
    const bool begun = !connection.buffered().empty();
    const WaitFor purpose = begun ? WaitFor::kMoreBytes : WaitFor::kNextRequest;
    const ReadOutcome outcome = co_await connection.more(purpose, until - state.clock.now());
    if (outcome == ReadOutcome::kData) continue;
    // Balancers look whether the port is open, and some clients connect ahead of need: silence is
    // no fault. A header that has begun has to come whole.
    if (begun) ++state.counts.proxy_refused;
    co_return close_silently();
  }
}

// ---- The peer ----

bool is_welcome(ServerState& state, const Connection& connection, std::shared_ptr<void>& ticket) {
  if (!state.hooks.on_connection || state.hooks.on_connection(connection.peer(), ticket)) {
    return true;
  }
  ++state.counts.connections_unwelcome;
  return false;
}

// ---- TLS ----

constexpr char kTlsHandshakeRecord = 0x16;

// Nothing has been read yet. A first byte that is no TLS is answered in plain text: whoever typed
// http:// should learn why it does not work.
Awaitable<Preamble> start_tls(ServerState& state, Connection& connection, TimePoint until) {
  while (connection.buffered().empty()) {
    const Duration left = until - state.clock.now();
    const ReadOutcome outcome = co_await connection.more(WaitFor::kNextRequest, left);
    if (outcome != ReadOutcome::kData) co_return close_silently();
  }
  if (connection.buffered().front() != kTlsHandshakeRecord) {
    co_return refuse("this port speaks TLS: the address begins with https://");
  }
  const Duration left = until - state.clock.now();
  const TlsStart started = co_await connection.start_tls(state.tls, left);
  if (started == TlsStart::kDone) {
    ++state.counts.tls_handshakes;
    if (connection.tls()->resumed()) ++state.counts.tls_resumed;
    co_return Preamble();
  }
  ++state.counts.tls_faults;
  log_debug("TLS handshake failed",
            {{"peer", connection.remote_address()}, {"reason", connection.tls()->fault()}});
  Preamble preamble;
  const bool alerted = started == TlsStart::kFault;
  preamble.result = alerted ? Preamble::Result::kLinger : Preamble::Result::kClose;
  co_return preamble;
}

}  // namespace

Awaitable<Preamble> read_preamble(std::shared_ptr<ServerState> state,
                                  std::shared_ptr<Connection> connection) {
  const TimePoint until = state->clock.now() + state->options.handshake_timeout;
  Preamble preamble;
  // Whose address no header can change is counted before it is waited for: silent connections
  // would count nowhere.
  const bool final_address =
      state->options.proxy == ProxyPolicy::kOff || !is_trusted(*state, connection->peer());
  std::shared_ptr<void> ticket;
  if (final_address && !is_welcome(*state, *connection, ticket)) co_return close_silently();
  if (state->options.proxy != ProxyPolicy::kOff) {
    preamble = co_await read_proxy_header(*state, *connection, until);
    if (preamble.result != Preamble::Result::kServe) {
      preamble.ticket = std::move(ticket);
      co_return preamble;
    }
  }
  if (!final_address && !is_welcome(*state, *connection, ticket)) co_return close_silently();
  preamble.ticket = std::move(ticket);
  if (connection->transport() == Transport::kTls) {
    Preamble secured = co_await start_tls(*state, *connection, until);
    secured.ticket = std::move(preamble.ticket);
    co_return secured;
  }
  co_return preamble;
}

}  // namespace zerohop

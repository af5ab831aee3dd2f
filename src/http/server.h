// HttpServer: listeners, sessions and their orderly end.
//
//   HttpServer server(io, clock, options, hooks, std::move(router));
//   ZH_ASSIGN_OR_RETURN(const Endpoint endpoint, server.listen_tcp("127.0.0.1", 0));
//   io.run();                                  // on the one I/O thread
//
// HTTP/1.1 and 1.0 over TCP, TLS and Unix sockets: keep-alive, pipelining (answered in order, one
// at a time), chunked bodies both ways, `Expect: 100-continue`. What the server knows of a request
// is bytes and header fields; dialects come in through ServerHooks.
//
// Owner: the program's wiring. All functions run on the thread that runs `io` (or before it runs);
// `io` has exactly one such thread, therefore nothing here locks and no strand is needed. The
// server must be destroyed before `io`; sessions that are then still running end when `io` runs on
// or is destroyed, and touch hooks and handlers no more than their own coroutine does.
//
// Orderly end: stop_accepting() → when_all_ended(callback) → after a grace time close_all().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "core/error.h"
#include "http/endpoint.h"
#include "http/exchange.h"
#include "http/router.h"
#include "http/server_options.h"

namespace boost::asio {
class io_context;
}

namespace zerohop {

class HttpServer {
 public:
  /// `io` and `clock` outlive the server; `clock` also its sessions. Time-outs follow `clock`.
  HttpServer(boost::asio::io_context& io, const Clock& clock, ServerOptions options,
             ServerHooks hooks, Router router);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// `host`: an IPv4 or IPv6 address, `localhost` (both loopbacks, one port) or a name, which
  /// blocks for its look-up. `port` 0 takes a free one. Returns the first address bound. May be
  /// called again for more addresses. Errors: kAddressInUse; kConfiguration for hosts that do not
  /// resolve and ports that need more rights.
  Result<Endpoint> listen_tcp(const std::string& host, std::uint16_t port);
  /// From now on connections of TLS listeners begin with `context`; those that are open keep
  /// theirs. Before the first listen_tcp() it does what ServerOptions::tls does.
  void set_tls(std::shared_ptr<const TlsContext> context);

  /// From now on sizes and time-outs are these, also for open connections, from their next wait on;
  /// so is the number of connections. Everything else stays as it was at the start: head_bytes_max,
  /// pipelined_bytes_max, the PROXY protocol, TLS.
  void set_options(const ServerOptions& options);
  const ServerOptions& options() const;

  /// Mode 0660. A stale socket file is replaced when nobody answers on it. Errors: kAddressInUse;
  /// kConfiguration for paths that are too long, not writable or not a socket.
  Result<Endpoint> listen_unix(const std::string& path);

  /// Drain: closes the listeners and the idle connections. Requests that have begun go on, and
  /// their answers say `connection: close`. Idempotent.
  void stop_accepting();
  /// `callback` runs on the I/O thread when the server drains and the last session has ended; not
  /// inside this call. One callback at a time.
  void when_all_ended(std::function<void()> callback);
  /// Hard stop: also closes every connection. Handlers see peer_gone() and their callback, and end
  /// by it.
  void close_all();

  const ServerCounts& counts() const;

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace zerohop

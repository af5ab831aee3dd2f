// Exchange: one request and its answer, as a handler sees them.
//
// Lives in the session's coroutine, from the parsed head to the last byte of the answer. I/O thread
// only, and one coroutine only: a handler must not write from two coroutines at once. A handler may
// suspend on anything whose completion comes back to executor(); after every suspension the peer
// may be gone.
//
//               respond                                 (one write: head and body)
//      kOpen ──────────────────────────────────────────▶ kDone
//        │ begin_stream            end_stream              ▲
//        ├─────────────▶ kHeadHeld ────────────────────────┤   (head and end in one write)
//        │                   │ flush, write     end_stream │
//        │                   └────────────▶ kStreaming ────┘
//        │                                      │ abort_stream (also from kHeadHeld)
//        │                                      ▼
//        └──── any failed write ──▶ kBroken   kAborted
//
// In kDone the connection can carry the next request; in kBroken and kAborted it closes.
//
// Caution, GCC 12: a temporary aggregate written inside a co_await expression is destroyed twice,
// and an initializer list there does not compile. Give it a name first:
//   Error fault{ErrorCode::kNotFound, "no such model", "model", {}};
//   co_await exchange.respond_error(std::move(fault));
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "http/awaitable.h"
#include "http/message.h"
#include "http/router.h"
#include "http/server_options.h"
#include "http/server_state.h"

namespace zerohop {

class Connection;
class GatherList;

class Exchange {
 public:
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange();

  const HttpRequest& request() const { return request_; }
  /// Moves the body out, for a worker thread that outlives the exchange; request().body is then
  /// empty.
  std::string take_body() { return std::move(request_.body); }
  const PathParameters& parameters() const { return parameters_; }
  /// The pattern that matched.
  std::string_view route() const { return route_; }
  /// What ServerHooks::on_head left there.
  const std::shared_ptr<void>& ticket() const { return ticket_; }
  /// The executor of the I/O thread, for timers and for posting back from other threads.
  boost::asio::any_io_executor executor() const;

  /// The whole answer, in one write. For HEAD the body counts but is not sent. Once per exchange,
  /// and not after begin_stream (a bug). Still tried when the peer has only closed its sending
  /// side.
  Awaitable<void> respond(HttpResponse response);
  /// The answer that ServerHooks::error_response gives to `error`.
  Awaitable<void> respond_error(Error error);

  /// Begins an answer of unknown length: chunked, or until the connection closes for HTTP/1.0. The
  /// head is held back and leaves with the first write(), flush() or end_stream(). False: peer
  /// gone.
  Awaitable<bool> begin_stream(int status, std::vector<HeaderField> headers);
  /// Sends the head now, before there is a first byte of the body. False: peer gone.
  Awaitable<bool> flush();
  /// Exactly one chunk and, when the socket has room for it, one system call. Returns when the
  /// bytes are handed to the socket: a client that does not read suspends its handler here, at most
  /// for write_timeout. An empty `bytes` sends nothing. False: peer gone, and all later calls are
  /// false.
  Awaitable<bool> write(std::string_view bytes);
  /// `last` as a last chunk and the end mark, in one write. False: peer gone.
  Awaitable<bool> end_stream(std::string_view last = {});
  /// Closes without the end mark, so that the client knows that the answer is incomplete.
  Awaitable<void> abort_stream();

  /// The peer has closed or reset the connection (or the server was stopped hard).
  bool peer_gone() const;
  /// `callback` runs once on the I/O thread, in the turn of the event loop that sees the peer go;
  /// at once when it has gone already; never after the handler has returned. Seen also while
  /// nothing is written, except when the peer has sent more than pipelined_bytes_max ahead: then it
  /// shows at the next write. A second call replaces the callback, null removes it.
  void on_peer_gone(std::function<void()> callback);

 private:
  friend class Session;
  enum class Phase : std::uint8_t { kOpen, kHeadHeld, kStreaming, kDone, kAborted, kBroken };

  Exchange(ServerState& state, Connection& connection, TimePoint received_at);

  void set_head(RequestHead head);
  const RequestHead* head() const { return head_known_ ? &request_.head : nullptr; }
  ExchangeContext context() { return ExchangeContext{head(), ticket_, request_.received_at}; }
  bool sends_body() const { return request_.head.method != "HEAD"; }
  bool keeps_connection() const;
  HttpResponse error_response(const Error& error);
  std::string write_head(ResponseHead head, std::optional<std::uint64_t> content_length);
  Awaitable<bool> send(GatherList bytes);
  Awaitable<bool> send_stream(std::string_view bytes, std::string_view end_mark);
  void finish();

  ServerState& state_;
  Connection& connection_;
  HttpRequest request_;
  bool head_known_ = false;
  PathParameters parameters_;
  std::string_view route_;
  std::shared_ptr<void> ticket_;
  std::optional<GaugeGuard> in_flight_;

  Phase phase_ = Phase::kOpen;
  bool close_after_ = false;  // whatever the client asked for
  bool chunked_ = false;
  bool streamed_ = false;
  bool timed_out_ = false;
  bool finished_ = false;
  std::string held_head_;
  int status_ = 0;
  std::uint64_t body_bytes_ = 0;
  std::uint64_t bytes_sent_before_ = 0;
  std::optional<Duration> until_first_byte_;
};

}  // namespace zerohop

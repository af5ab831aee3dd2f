// One session is one coroutine, and one request is one turn of its loop:
//
//   preamble (preamble.h) ─▶ and then, again and again:
//
//   wait for the first byte ─▶ read head ─▶ on_request ─▶ route ─▶ on_head ─▶ read body ─▶ handler
//        │ idle, drain           │ 400 431    │ refusal     │ 404   │ refusal   │ 400 408    │
//        ▼                       │ 408        │             │ 405   │           │ 413        ▼
//      close                     └────────────┴─────────────┴───────┴───────────┴─▶ answer  again
//
// A handler that gives no answer or throws becomes a 500, or a stream that is cut.
//
// What is decided before the body has been read answers first and then drops the body when it is
// short; otherwise the answer says `connection: close`. A peer that goes away inside a head or a
// body gets no answer, only a count. Every wait has a deadline.
#include "http/session.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "http/exchange.h"
#include "http/preamble.h"
#include "http/request_parser.h"

namespace zerohop {
namespace {

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::string_view kPreflightAgeSeconds = "86400";

enum class Next : std::uint8_t { kServeAnother, kCloseGracefully, kClose };

/// How reading a head or a body ended.
struct Reading {
  enum class Result : std::uint8_t { kDone, kFault, kGone };
  Result result = Result::kDone;
  Error fault;
};

Reading read_fault(ErrorCode code, std::string message) {
  Reading reading;
  reading.result = Reading::Result::kFault;
  reading.fault = Error{code, std::move(message), "", {}};
  return reading;
}

Reading read_gone() {
  Reading reading;
  reading.result = Reading::Result::kGone;
  return reading;
}

bool expects_continue(const RequestHead& head) {
  const std::optional<std::string_view> expect = head.headers.find("expect");
  return head.version == HttpVersion::k1_1 && expect && list_has_token(*expect, "100-continue");
}

}  // namespace

class Session {
 public:
  Session(std::shared_ptr<ServerState> state, std::shared_ptr<Connection> connection)
      : state_(std::move(state)), connection_(std::move(connection)) {}

  Awaitable<void> run();

 private:
  Awaitable<Next> begin();
  Awaitable<bool> first_byte();
  Awaitable<Next> serve_next();
  Awaitable<Next> refuse_head(Error fault, TimePoint received_at);
  Awaitable<Next> serve(RequestParser& parser, TimePoint received_at);
  Awaitable<Next> answer(Exchange& exchange, RequestParser& parser);
  Awaitable<Next> answer_unroutable(Exchange& exchange, RequestParser& parser, RouteMatch match);
  Awaitable<Next> refuse(Exchange& exchange, RequestParser& parser, HttpResponse response);
  Awaitable<Next> body_failed(Exchange& exchange, Reading reading);
  Awaitable<void> run_handler(Exchange& exchange, const Handler& handler);

  Awaitable<Reading> read_head(RequestParser& parser, TimePoint received_at);
  Awaitable<Reading> read_body(RequestParser& parser, const RequestHead& head);
  Duration body_patience(TimePoint started, std::uint64_t bytes_received) const;

  const std::shared_ptr<ServerState> state_;
  const std::shared_ptr<Connection> connection_;
  std::shared_ptr<void> ticket_;  // of the connection
};

// ---- The loop ----

Awaitable<void> Session::run() {
  Next next = co_await begin();
  while (next == Next::kServeAnother) {
    const bool begun = co_await first_byte();
    if (!begun) break;
    next = co_await serve_next();
    if (!connection_->buffered().empty()) co_await connection_->yield();
  }
  if (next == Next::kServeAnother) connection_->say_goodbye();
  if (next == Next::kCloseGracefully) co_await connection_->close_gracefully();
  connection_->close();
}

Awaitable<Next> Session::begin() {
  Preamble preamble = co_await read_preamble(state_, connection_);
  ticket_ = std::move(preamble.ticket);
  switch (preamble.result) {
    case Preamble::Result::kServe: co_return Next::kServeAnother;
    case Preamble::Result::kClose: co_return Next::kClose;
    case Preamble::Result::kLinger: co_return Next::kCloseGracefully;
    case Preamble::Result::kRefuse: break;
  }
  co_return co_await refuse_head(std::move(preamble.fault), state_->clock.now());
}

/// Waits, idle, for a request to begin.
Awaitable<bool> Session::first_byte() {
  connection_->watch();
  while (connection_->buffered().empty()) {
    if (state_->draining) co_return false;
    const ReadOutcome outcome =
        co_await connection_->more(WaitFor::kNextRequest, state_->options.idle_timeout);
    if (outcome != ReadOutcome::kData && connection_->buffered().empty()) co_return false;
  }
  co_return true;
}

Awaitable<Next> Session::serve_next() {
  const TimePoint received_at = state_->clock.now();
  const RequestLimits limits{state_->options.head_bytes_max, state_->options.body_bytes_max};
  RequestParser parser(limits);
  Reading reading = co_await read_head(parser, received_at);
  switch (reading.result) {
    case Reading::Result::kDone: co_return co_await serve(parser, received_at);
    case Reading::Result::kFault:
      co_return co_await refuse_head(std::move(reading.fault), received_at);
    case Reading::Result::kGone: break;
  }
  ++state_->counts.requests_truncated;
  co_return Next::kClose;
}

Awaitable<Next> Session::refuse_head(Error fault, TimePoint received_at) {
  Exchange exchange(*state_, *connection_, received_at);
  exchange.close_after_ = true;
  exchange.timed_out_ = fault.code == ErrorCode::kRequestTimeout;
  ++(exchange.timed_out_ ? state_->counts.timeouts : state_->counts.heads_malformed);
  co_await exchange.respond_error(std::move(fault));
  exchange.finish();
  co_return Next::kCloseGracefully;
}

// The frame that every exchange with a head ends in, whatever hooks and handlers throw.
Awaitable<Next> Session::serve(RequestParser& parser, TimePoint received_at) {
  Exchange exchange(*state_, *connection_, received_at);
  exchange.set_head(std::move(parser.head()));
  exchange.request_.head.remote_address = connection_->remote_address();
  exchange.request_.head.peer = connection_->peer();
  exchange.request_.head.client_subject = connection_->client_subject();
  exchange.request_.head.client_name = connection_->client_name();
  Next next = Next::kClose;
  try {
    next = co_await answer(exchange, parser);
  } catch (const std::exception& fault) {
    log_error("http hook threw", {{"what", log_text(fault.what())}});
  } catch (...) {
    log_error("http hook threw");
  }
  exchange.finish();
  co_return next;
}

Awaitable<Next> Session::answer(Exchange& exchange, RequestParser& parser) {
  const RequestHead& head = exchange.request_.head;
  if (state_->hooks.on_request) {
    std::optional<HttpResponse> refusal = state_->hooks.on_request(head, exchange.ticket_);
    if (refusal) co_return co_await refuse(exchange, parser, *std::move(refusal));
  }
  RouteMatch match = state_->router.match(head.method, head.path);
  if (match.outcome != RouteOutcome::kFound) {
    co_return co_await answer_unroutable(exchange, parser, std::move(match));
  }
  exchange.route_ = match.pattern;
  exchange.parameters_ = std::move(match.parameters);
  if (head.content_length.value_or(0) > state_->options.body_bytes_max) {
    const Error fault{
        ErrorCode::kRequestTooLarge,
        "the body exceeds " + std::to_string(state_->options.body_bytes_max) + " bytes",
        "",
        {}};
    HttpResponse response = exchange.error_response(fault);
    exchange.close_after_ = true;
    co_return co_await refuse(exchange, parser, std::move(response));
  }
  if (state_->hooks.on_head) {
    std::optional<HttpResponse> refusal = state_->hooks.on_head(head, exchange.ticket_);
    if (refusal) co_return co_await refuse(exchange, parser, *std::move(refusal));
  }
  Reading reading = co_await read_body(parser, head);
  if (reading.result != Reading::Result::kDone) {
    co_return co_await body_failed(exchange, std::move(reading));
  }
  exchange.request_.body = parser.take_body();
  exchange.body_bytes_ = exchange.request_.body.size();
  connection_->watch();
  co_await run_handler(exchange, *match.handler);
  if (exchange.phase_ != Exchange::Phase::kDone) co_return Next::kClose;
  co_return exchange.close_after_ ? Next::kCloseGracefully : Next::kServeAnother;
}

// ---- Refusals ----

Awaitable<Next> Session::answer_unroutable(Exchange& exchange, RequestParser& parser,
                                           RouteMatch match) {
  const RequestHead& head = exchange.request_.head;
  HttpResponse response;
  switch (match.outcome) {
    case RouteOutcome::kBadPath: {
      const Error fault = invalid_request("", "the path has a malformed percent escape");
      response = exchange.error_response(fault);
      break;
    }
    case RouteOutcome::kWrongMethod: {
      const Error fault{ErrorCode::kMethodNotAllowed,
                        head.method + " is not allowed here; allowed: " + match.allow,
                        "",
                        {}};
      response = exchange.error_response(fault);
      response.headers.push_back(HeaderField{"allow", match.allow});
      break;
    }
    case RouteOutcome::kOptions: {
      response.status = 204;
      response.headers.push_back(HeaderField{"allow", match.allow});
      if (state_->options.cors == CorsPolicy::kOff) break;
      response.headers.push_back(HeaderField{"access-control-allow-methods", match.allow});
      if (const auto wanted = head.headers.find("access-control-request-headers")) {
        response.headers.push_back(
            HeaderField{"access-control-allow-headers", std::string(*wanted)});
      }
      response.headers.push_back(
          HeaderField{"access-control-max-age", std::string(kPreflightAgeSeconds)});
      break;
    }
    case RouteOutcome::kUnknownPath:
    case RouteOutcome::kFound: {
      const Error fault{ErrorCode::kNotFound, "no such path: '" + head.path + "'", "", {}};
      response = exchange.error_response(fault);
      break;
    }
  }
  co_return co_await refuse(exchange, parser, std::move(response));
}

// Answers before the body was read. A short body is dropped afterwards, with the exchange already
// finished: nobody should hold a permit for bytes that are thrown away.
Awaitable<Next> Session::refuse(Exchange& exchange, RequestParser& parser, HttpResponse response) {
  const RequestHead& head = exchange.request_.head;
  const bool short_body = head.content_length &&
                          *head.content_length <= state_->options.dropped_body_bytes_max &&
                          !expects_continue(head);
  if (parser.body_pending() && !short_body) exchange.close_after_ = true;
  co_await exchange.respond(std::move(response));
  const bool answered = exchange.phase_ == Exchange::Phase::kDone;
  exchange.finish();
  if (!answered) co_return Next::kClose;
  if (exchange.close_after_) co_return Next::kCloseGracefully;
  const Reading reading = co_await read_body(parser, head);
  co_return reading.result == Reading::Result::kDone ? Next::kServeAnother : Next::kClose;
}

Awaitable<Next> Session::body_failed(Exchange& exchange, Reading reading) {
  if (reading.result == Reading::Result::kGone) {
    ++state_->counts.requests_truncated;
    co_return Next::kClose;
  }
  exchange.timed_out_ = reading.fault.code == ErrorCode::kRequestTimeout;
  if (exchange.timed_out_) ++state_->counts.timeouts;
  exchange.close_after_ = true;
  co_await exchange.respond_error(std::move(reading.fault));
  co_return Next::kCloseGracefully;
}

// ---- The handler ----

Awaitable<void> Session::run_handler(Exchange& exchange, const Handler& handler) {
  std::string fault;
  try {
    co_await handler(exchange);
  } catch (const std::exception& error) {
    fault = error.what();
    if (fault.empty()) fault = "exception";
  } catch (...) {
    fault = "not a std::exception";
  }
  exchange.on_peer_gone(nullptr);
  const Exchange::Phase phase = exchange.phase_;
  const bool ended = phase == Exchange::Phase::kDone || phase == Exchange::Phase::kAborted;
  if (fault.empty() && (ended || exchange.peer_gone())) co_return;
  ++state_->counts.handler_faults;
  log_error("http handler fault", {{"route", std::string(exchange.route())},
                                   {"what", fault.empty() ? "no answer" : log_text(fault)}});
  if (phase == Exchange::Phase::kOpen) {
    Error internal;
    internal.message = "internal error";
    co_await exchange.respond_error(std::move(internal));
  } else {
    co_await exchange.abort_stream();
  }
}

// ---- Reading ----

Awaitable<Reading> Session::read_head(RequestParser& parser, TimePoint received_at) {
  while (true) {
    const ParseProgress progress = parser.feed_head(connection_->buffered());
    connection_->consume_secret(progress.bytes_consumed);
    if (progress.state == ParseState::kDone) co_return Reading{};
    if (progress.state == ParseState::kFailed) {
      co_return read_fault(parser.error().code, parser.error().message);
    }
    const Duration left = received_at + state_->options.head_timeout - state_->clock.now();
    switch (co_await connection_->more(WaitFor::kMoreBytes, left)) {
      case ReadOutcome::kData: break;
      case ReadOutcome::kTimeout:
        co_return read_fault(ErrorCode::kRequestTimeout, "the request head took too long");
      case ReadOutcome::kFull:
        co_return read_fault(ErrorCode::kHeadTooLarge, "the request head is too long");
      case ReadOutcome::kEnd:
      case ReadOutcome::kStopped: co_return read_gone();
    }
  }
}

Duration Session::body_patience(TimePoint started, std::uint64_t bytes_received) const {
  const double earned_seconds =
      static_cast<double>(bytes_received) /
      static_cast<double>(std::max<std::size_t>(1, state_->options.body_bytes_per_second_min));
  const TimePoint whole_body_until =
      started + state_->options.body_timeout + from_seconds(earned_seconds);
  return std::min(state_->options.body_timeout, whole_body_until - state_->clock.now());
}

Awaitable<Reading> Session::read_body(RequestParser& parser, const RequestHead& head) {
  const TimePoint started = state_->clock.now();
  const std::uint64_t declared = head.content_length.value_or(0);
  bool continue_wanted = expects_continue(head);
  std::uint64_t received = 0;
  while (parser.body_pending()) {
    const ParseProgress progress = parser.feed_body(connection_->buffered());
    if (progress.state == ParseState::kFailed) {
      co_return read_fault(parser.error().code, parser.error().message);
    }
    connection_->consume(progress.bytes_consumed);
    received += progress.bytes_consumed;
    if (progress.state == ParseState::kDone) break;
    if (continue_wanted && received == 0 && connection_->buffered().empty()) {
      continue_wanted = false;
      GatherList interim;
      interim.add(kContinue);
      const bool sent = co_await connection_->write(interim);
      if (!sent) co_return read_gone();
    }
    if (declared > received) connection_->expect_bytes(declared - received);
    switch (co_await connection_->more(WaitFor::kMoreBytes, body_patience(started, received))) {
      case ReadOutcome::kData: break;
      case ReadOutcome::kTimeout:
        co_return read_fault(ErrorCode::kRequestTimeout, "the request body took too long");
      case ReadOutcome::kEnd:
      case ReadOutcome::kStopped:
      case ReadOutcome::kFull:  // never: the body takes all bytes, so there is always room
        co_return read_gone();
    }
  }
  co_return Reading{};
}

// ---- The border ----

Registration::Registration(std::shared_ptr<ServerState> state, Connection& connection)
    : state_(std::move(state)), connection_(connection), open_(state_->counts.connections_open) {
  state_->connections.insert(&connection_);
}

Registration::~Registration() { state_->connections.erase(&connection_); }

Awaitable<void> run_session(std::shared_ptr<ServerState> state,
                            std::shared_ptr<Connection> connection,
                            std::unique_ptr<Registration> registration) {
  try {
    Session session(state, connection);
    co_await session.run();
  } catch (const std::exception& fault) {
    log_error("http session fault", {{"what", log_text(fault.what())}});
  } catch (...) {
    log_error("http session fault");
  }
  connection->close();
  registration.reset();
  state->check_all_ended();
}

}  // namespace zerohop

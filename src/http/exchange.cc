#include "http/exchange.h"

#include <array>
#include <charconv>
#include <utility>

#include "base/check.h"
#include "http/connection.h"
#include "http/response_head.h"

namespace zerohop {
namespace {

constexpr std::string_view kLastChunk = "0\r\n\r\n";
constexpr std::string_view kChunkAndLastChunkEnd = "\r\n0\r\n\r\n";
constexpr std::string_view kChunkEnd = "\r\n";

HttpResponse plain_error(const Error& error) {
  HttpResponse response;
  const int status = error_traits(error.code).status;
  response.status = status != 0 ? status : 500;
  response.headers.push_back(HeaderField{"content-type", "text/plain; charset=utf-8"});
  response.body = error.message + "\n";
  return response;
}

}  // namespace

Exchange::Exchange(ServerState& state, Connection& connection, TimePoint received_at)
    : state_(state), connection_(connection), bytes_sent_before_(connection.bytes_sent()) {
  request_.received_at = received_at;
  in_flight_.emplace(state_.counts.exchanges_in_flight);
  ++state_.counts.exchanges;
}

Exchange::~Exchange() {
  connection_.on_peer_gone(nullptr);
  for (const std::string_view secret : {"authorization", "x-api-key"}) {
    request_.head.headers.wipe(secret);
  }
}

boost::asio::any_io_executor Exchange::executor() const { return connection_.executor(); }

void Exchange::set_head(RequestHead head) {
  request_.head = std::move(head);
  head_known_ = true;
}

bool Exchange::keeps_connection() const {
  return head_known_ && request_.head.keep_alive && !close_after_ && !state_.draining;
}

bool Exchange::peer_gone() const { return connection_.peer_gone(); }

void Exchange::on_peer_gone(std::function<void()> callback) {
  connection_.on_peer_gone(std::move(callback));
}

// ---- Heads ----

HttpResponse Exchange::error_response(const Error& error) {
  if (!state_.hooks.error_response) return plain_error(error);
  return state_.hooks.error_response(context(), error);
}

// Without a length the answer is a stream. Decides here, at the last moment, whether the connection
// goes on: a drain may have begun since the request came.
std::string Exchange::write_head(ResponseHead head, std::optional<std::uint64_t> content_length) {
  const bool old = head_known_ && request_.head.version == HttpVersion::k1_0;
  ResponseFraming framing;
  if (status_forbids_body(head.status)) {
    framing.body = ResponseFraming::Body::kNone;
  } else if (content_length) {
    framing.body = ResponseFraming::Body::kLength;
    framing.content_length = *content_length;
  } else if (old) {
    framing.body = ResponseFraming::Body::kUntilClose;
    close_after_ = true;
  } else {
    framing.body = ResponseFraming::Body::kChunked;
    chunked_ = true;
  }
  if (!keeps_connection()) {
    close_after_ = true;
    framing.connection = "close";
  } else if (old) {
    framing.connection = "keep-alive";
  }
  if (state_.options.cors == CorsPolicy::kAnyOrigin && request_.head.headers.contains("origin")) {
    head.headers.push_back(HeaderField{"access-control-allow-origin", "*"});
    head.headers.push_back(HeaderField{"access-control-expose-headers", "*"});
  }
  if (state_.hooks.decorate) state_.hooks.decorate(context(), head);
  framing.date = state_.date.text(state_.clock.wall());
  status_ = head.status;
  return write_response_head(head, framing);
}

Awaitable<bool> Exchange::send(GatherList bytes) {
  if (!until_first_byte_) until_first_byte_ = state_.clock.now() - request_.received_at;
  const bool sent = co_await connection_.write(bytes);
  if (!sent) phase_ = Phase::kBroken;
  co_return sent;
}

// ---- Whole answers ----

Awaitable<void> Exchange::respond(HttpResponse response) {
  ZH_CHECK(phase_ == Phase::kOpen || phase_ == Phase::kBroken);
  if (phase_ == Phase::kBroken) co_return;
  ResponseHead response_head;
  response_head.status = response.status;
  response_head.headers = std::move(response.headers);
  const std::string head = write_head(std::move(response_head), response.body.size());
  GatherList bytes;
  bytes.add(head);
  if (sends_body() && !status_forbids_body(response.status)) bytes.add(response.body);
  const bool sent = co_await send(bytes);
  if (sent) phase_ = Phase::kDone;
}

Awaitable<void> Exchange::respond_error(Error error) {
  HttpResponse response = error_response(error);
  co_await respond(std::move(response));
}

// ---- Streams ----

Awaitable<bool> Exchange::begin_stream(int status, std::vector<HeaderField> headers) {
  ZH_CHECK(phase_ == Phase::kOpen || phase_ == Phase::kBroken);
  ZH_CHECK(!status_forbids_body(status));
  if (peer_gone()) phase_ = Phase::kBroken;
  if (phase_ == Phase::kBroken) co_return false;
  ResponseHead response_head;
  response_head.status = status;
  response_head.headers = std::move(headers);
  streamed_ = true;
  held_head_ = write_head(std::move(response_head), std::nullopt);
  phase_ = Phase::kHeadHeld;
  co_return true;
}

Awaitable<bool> Exchange::flush() { co_return co_await send_stream({}, {}); }

Awaitable<bool> Exchange::write(std::string_view bytes) {
  if (bytes.empty()) co_return !peer_gone();
  co_return co_await send_stream(bytes, kChunkEnd);
}

Awaitable<bool> Exchange::end_stream(std::string_view last) {
  const bool sent = co_await send_stream(last, last.empty() ? kLastChunk : kChunkAndLastChunkEnd);
  if (sent) phase_ = Phase::kDone;
  co_return sent;
}

// Sends the held head, `bytes` as one chunk, and the mark that ends it (and perhaps the stream).
Awaitable<bool> Exchange::send_stream(std::string_view bytes, std::string_view end_mark) {
  ZH_CHECK(streamed_ || phase_ == Phase::kBroken);
  ZH_CHECK(phase_ != Phase::kDone);
  if (phase_ == Phase::kAborted || phase_ == Phase::kBroken) co_return false;
  if (peer_gone()) {
    phase_ = Phase::kBroken;
    co_return false;
  }
  const std::string head = std::exchange(held_head_, std::string());
  std::array<char, 20> size_line;
  GatherList list;
  list.add(head);
  if (sends_body() && !chunked_) list.add(bytes);
  if (sends_body() && chunked_) {
    if (!bytes.empty()) {
      char* end = std::to_chars(size_line.data(), size_line.data() + 16, bytes.size(), 16).ptr;
      *end++ = '\r';
      *end++ = '\n';
      list.add(
          std::string_view(size_line.data(), static_cast<std::size_t>(end - size_line.data())));
      list.add(bytes);
    }
    list.add(end_mark);
  }
  phase_ = Phase::kStreaming;
  if (list.view().empty()) co_return true;
  co_return co_await send(list);
}

Awaitable<void> Exchange::abort_stream() {
  if (phase_ != Phase::kHeadHeld && phase_ != Phase::kStreaming) co_return;
  phase_ = Phase::kAborted;
  close_after_ = true;
  // Without chunks the orderly end of the connection would say that the body is complete.
  if (chunked_) {
    connection_.close();
  } else {
    connection_.reset();
  }
}

// ---- The end ----

void Exchange::finish() {
  if (std::exchange(finished_, true)) return;
  connection_.on_peer_gone(nullptr);
  ExchangeEnd end = ExchangeEnd::kPeerGone;
  if (timed_out_ || connection_.write_timed_out()) {
    end = ExchangeEnd::kTimedOut;
  } else if (phase_ == Phase::kDone) {
    end = ExchangeEnd::kCompleted;
  } else if (phase_ == Phase::kAborted) {
    end = ExchangeEnd::kAborted;
  }
  if (state_.hooks.on_done) {
    const ExchangeSummary summary{
        .head = head(),
        .ticket = ticket_,
        .route = route_,
        .status = until_first_byte_ ? status_ : 0,
        .end = end,
        .streamed = streamed_,
        .request_body_bytes = body_bytes_,
        .response_bytes = connection_.bytes_sent() - bytes_sent_before_,
        .received_at = request_.received_at,
        .until_first_byte = until_first_byte_.value_or(Duration::zero()),
        .total = state_.clock.now() - request_.received_at,
    };
    state_.hooks.on_done(summary);
  }
  ticket_.reset();
  in_flight_.reset();
}

}  // namespace zerohop

#include "app/http_post.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/whole_number.h"

namespace zerohop {

namespace asio = boost::asio;
namespace beast = boost::beast;

namespace {

using Fault = boost::system::error_code;
using Tcp = asio::ip::tcp;
using Request = beast::http::request<beast::http::span_body<const char>>;
using ReplyParser = beast::http::response_parser<beast::http::string_body>;

constexpr auto kAwaitTuple = asio::as_tuple(asio::use_awaitable);

Request message_of(const PostRequest& request) {
  Request message(beast::http::verb::post, request.url.path, 11);
  for (const HeaderField& field : request.headers) message.set(field.name, field.value);
  message.set(beast::http::field::host, host_field(request.url));
  message.body() = {request.body.data(), request.body.size()};
  message.keep_alive(false);
  message.prepare_payload();
  return message;
}

// Nothing for a name.
std::optional<Tcp::endpoint> numeric_place(const HttpUrl& url) {
  Fault fault;
  const asio::ip::address address = asio::ip::make_address(url.host, fault);
  const auto port = whole_number<std::uint16_t>(url.port);
  if (fault || !port) return std::nullopt;
  return Tcp::endpoint(address, *port);
}

}  // namespace

struct HttpPost::Parts {
  explicit Parts(const asio::any_io_executor& executor)
      : resolver(executor), socket(executor), timer(executor) {}

  Awaitable<Fault> connect(const HttpUrl& url);
  Awaitable<Result<PostReply>> exchange(PostRequest request);
  void cut() {
    late = true;
    resolver.cancel();
    Fault ignored;
    socket.close(ignored);
  }
  Error failed(const Fault& fault) const {
    return Error{ErrorCode::kNotFound, late ? "no answer in time" : fault.message(), "", {}};
  }

  Tcp::resolver resolver;
  Tcp::socket socket;
  asio::steady_timer timer;
  std::optional<TimePoint> deadline;
  bool late = false;
};

Awaitable<Fault> HttpPost::Parts::connect(const HttpUrl& url) {
  if (const std::optional<Tcp::endpoint> place = numeric_place(url)) {
    const auto [fault] = co_await socket.async_connect(*place, kAwaitTuple);
    co_return fault;
  }
  const auto [unknown, places] = co_await resolver.async_resolve(url.host, url.port, kAwaitTuple);
  if (unknown || late) co_return unknown;
  const auto [fault, place] = co_await asio::async_connect(socket, places, kAwaitTuple);
  co_return fault;
}

Awaitable<Result<PostReply>> HttpPost::Parts::exchange(PostRequest request) {
  const Fault unconnected = co_await connect(request.url);
  if (unconnected || late) co_return failed(unconnected);
  const Request message = message_of(request);
  const auto [unsent, sent] = co_await beast::http::async_write(socket, message, kAwaitTuple);
  if (unsent || late) co_return failed(unsent);
  // Also what belongs to neither head nor body, such as the extension of a chunk, has an end.
  beast::flat_buffer buffer(kReplyHeadBytesMax + kReplyBodyBytesMax);
  ReplyParser parser;
  parser.header_limit(kReplyHeadBytesMax);
  parser.body_limit(kReplyBodyBytesMax);
  const auto [unread, head] =
      co_await beast::http::async_read_header(socket, buffer, parser, kAwaitTuple);
  // A head that announces a longer body than is read is a good one.
  const bool too_long = unread == beast::http::error::body_limit;
  if (unread && !too_long) co_return failed(unread);
  PostReply reply;
  reply.status = static_cast<int>(parser.get().result_int());
  reply.retry_after = std::string(parser.get()[beast::http::field::retry_after]);
  if (too_long) co_return reply;
  const auto [broken, rest] = co_await beast::http::async_read(socket, buffer, parser, kAwaitTuple);
  if (!broken) reply.body = std::move(parser.get().body());
  co_return reply;
}

HttpPost::HttpPost(const asio::any_io_executor& executor)
    : parts_(std::make_shared<Parts>(executor)) {}

void HttpPost::end_at(TimePoint deadline) {
  if (parts_->deadline && *parts_->deadline <= deadline) return;
  parts_->deadline = deadline;
  parts_->timer.expires_at(deadline);
  parts_->timer.async_wait([parts = parts_](const Fault& fault) {
    if (!fault) parts->cut();
  });
}

Awaitable<Result<PostReply>> HttpPost::send(PostRequest request) {
  end_at(request.deadline);
  Result<PostReply> reply = co_await parts_->exchange(std::move(request));
  parts_->timer.cancel();
  Fault ignored;
  parts_->socket.close(ignored);
  co_return reply;
}

}  // namespace zerohop

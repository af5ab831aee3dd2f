#include "app/http_get.h"

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "app/json_text.h"

namespace zerohop {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

constexpr std::uint64_t kBodyBytesMax = std::uint64_t{16} << 20;
constexpr std::string_view kScheme = "http://";

Error failed(const HttpUrl& url, const std::string& reason) {
  return Error{ErrorCode::kNotFound, host_field(url) + url.path + ": " + reason, "", {}};
}

// ": " and the message of an error body of either dialect; empty where there is none.
std::string told(std::string_view body) {
  const std::optional<boost::json::object> object = object_in(body);
  const boost::json::value* error = object ? object->if_contains("error") : nullptr;
  if (error == nullptr || !error->is_object()) return {};
  const std::string_view message = text_at(error->get_object(), "message");
  return message.empty() ? std::string() : ": " + std::string(message);
}

using Response = beast::http::response_parser<beast::http::string_body>;
using Fault = boost::system::error_code;

// One step after another; `done` learns how it ended. The object outlives the last of them.
class Fetch {
 public:
  Fetch(asio::io_context& io, const HttpUrl& url, std::string_view bearer)
      : resolver_(io), socket_(io), url_(url) {
    request_.method(beast::http::verb::get);
    if (!bearer.empty()) {
      request_.set(beast::http::field::authorization, "Bearer " + std::string(bearer));
    }
    request_.target(url.path);
    request_.set(beast::http::field::host, host_field(url));
    request_.keep_alive(false);
    response_.body_limit(kBodyBytesMax);
  }

  void start() {
    resolver_.async_resolve(url_.host, url_.port, [this](Fault fault, const auto& addresses) {
      if (!went_on(fault)) return;
      asio::async_connect(socket_, addresses,
                          [this](Fault failed, const auto&) { return write(failed); });
    });
  }
  /// Nothing while it is under way.
  const std::optional<Fault>& end() const { return end_; }
  Response& response() { return response_; }

 private:
  void write(Fault fault) {
    if (!went_on(fault)) return;
    beast::http::async_write(socket_, request_,
                             [this](Fault failed, std::size_t) { return read(failed); });
  }
  void read(Fault fault) {
    if (!went_on(fault)) return;
    beast::http::async_read(socket_, buffer_, response_,
                            [this](Fault failed, std::size_t) { end_ = failed; });
  }
  bool went_on(Fault fault) {
    if (fault) end_ = fault;
    return !fault;
  }

  asio::ip::tcp::resolver resolver_;
  asio::ip::tcp::socket socket_;
  const HttpUrl& url_;
  beast::http::request<beast::http::empty_body> request_;
  beast::flat_buffer buffer_;
  Response response_;
  std::optional<Fault> end_;
};

}  // namespace

std::string host_field(const HttpUrl& url) {
  const bool v6 = url.host.find(':') != std::string::npos;
  std::string field = v6 ? "[" + url.host + "]" : url.host;
  if (url.port != HttpUrl().port) field.append(":").append(url.port);
  return field;
}

Result<HttpUrl> split_http_url(std::string_view text) {
  if (!text.starts_with(kScheme)) {
    return invalid_request("url", "must be of the form http://HOST:PORT");
  }
  text.remove_prefix(kScheme.size());
  HttpUrl url;
  const std::size_t slash = std::min(text.find('/'), text.size());
  std::string_view authority = text.substr(0, slash);
  if (slash < text.size()) url.path = text.substr(slash);
  const std::size_t bracket = authority.rfind(']');  // of an IPv6 address
  const std::size_t colon = authority.rfind(':');
  if (colon != authority.npos && (bracket == authority.npos || colon > bracket)) {
    url.port = authority.substr(colon + 1);
    authority = authority.substr(0, colon);
  }
  if (authority.starts_with("[") && authority.ends_with("]")) {
    authority = authority.substr(1, authority.size() - 2);
  }
  url.host = authority;
  if (url.host.empty() || url.port.empty()) {
    return invalid_request("url", "must be of the form http://HOST:PORT");
  }
  return url;
}

Result<std::string> http_get(std::string_view text, const HttpGetOptions& options) {
  ZH_ASSIGN_OR_RETURN(const HttpUrl url, split_http_url(text));
  asio::io_context io;
  Fetch fetch(io, url, options.bearer);
  fetch.start();
  io.run_for(options.time);
  if (!fetch.end()) {
    const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(options.time).count();
    return failed(url, "no answer within " + std::to_string(limit) + " ms");
  }
  if (*fetch.end()) return failed(url, fetch.end()->message());
  const auto& response = fetch.response().get();
  if (response.result_int() == 200) return std::move(fetch.response().get().body());
  Error error = failed(
      url, "answered with status " + std::to_string(response.result_int()) + told(response.body()));
  if (response.result_int() == 401) error.code = ErrorCode::kAuthentication;
  return error;
}

}  // namespace zerohop

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
#include <cstdint>
#include <utility>

namespace zerohop {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

constexpr std::uint64_t kBodyBytesMax = std::uint64_t{16} << 20;
constexpr std::string_view kScheme = "http://";

struct Url {
  std::string host;
  std::string port = "80";
  std::string path = "/";
};

Result<Url> split_url(std::string_view text) {
  if (!text.starts_with(kScheme)) {
    return invalid_request("url", "must be of the form http://HOST:PORT");
  }
  text.remove_prefix(kScheme.size());
  Url url;
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

Error failed(const Url& url, const std::string& reason) {
  return Error{ErrorCode::kNotFound, url.host + ":" + url.port + url.path + ": " + reason, "", {}};
}

}  // namespace

Result<std::string> http_get(std::string_view text) {
  ZH_ASSIGN_OR_RETURN(const Url url, split_url(text));
  asio::io_context io;
  boost::system::error_code fault;
  asio::ip::tcp::resolver resolver(io);
  const auto addresses = resolver.resolve(url.host, url.port, fault);
  if (fault) return failed(url, fault.message());
  asio::ip::tcp::socket socket(io);
  asio::connect(socket, addresses, fault);
  if (fault) return failed(url, fault.message());
  beast::http::request<beast::http::empty_body> request(beast::http::verb::get, url.path, 11);
  request.set(beast::http::field::host, url.host);
  request.keep_alive(false);
  beast::http::write(socket, request, fault);
  if (fault) return failed(url, fault.message());
  beast::flat_buffer buffer;
  beast::http::response_parser<beast::http::string_body> parser;
  parser.body_limit(kBodyBytesMax);
  beast::http::read(socket, buffer, parser, fault);
  if (fault) return failed(url, fault.message());
  if (parser.get().result_int() != 200) {
    return failed(url, "answered with status " + std::to_string(parser.get().result_int()));
  }
  return std::move(parser.get().body());
}

}  // namespace zerohop

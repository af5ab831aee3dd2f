// Requests and responses as values: what a peer asked, and what the program answers.
// Plain values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/ip_address.h"
#include "http/headers.h"

namespace zerohop {

enum class HttpVersion : std::uint8_t { k1_0, k1_1 };

/// A head that was parsed, checked against the smuggling rules and normalised.
struct RequestHead {
  std::string method;  ///< as sent; case matters
  std::string target;  ///< as sent, for nothing but logs
  /// Path part of the target. Doubled slashes are collapsed and a trailing slash is removed (except
  /// that of the root); percent escapes are still in place, so that `%2F` does not split a segment.
  std::string path;
  std::string query;  ///< after the first `?`, without it; see http/url.h
  Headers headers;
  std::string remote_address;  ///< `127.0.0.1`, `::1`; `unix` for a Unix socket
  IpAddress peer;              ///< the same as a value; not known for a Unix socket
  std::string client_subject;  ///< of the certificate that the client showed; empty: none
  std::string client_name;     ///< its first DNS name, else its common name; empty: none
  HttpVersion version = HttpVersion::k1_1;
  bool keep_alive = true;  ///< what the client asks for
  bool chunked = false;    ///< the body comes in chunks; then no length is declared
  std::optional<std::uint64_t> content_length;
};

struct HttpRequest {
  RequestHead head;
  std::string body;
  /// When the first byte of the head was seen. For a pipelined request: when its turn came.
  TimePoint received_at;
};

/// A whole answer. The fields that frame a message (`content-length`, `transfer-encoding`,
/// `connection`, `date`) belong to the session and are dropped when given here.
///
/// The constructors keep it from being an aggregate: GCC 12 destroys a temporary aggregate inside a
/// co_await expression twice.
struct HttpResponse {
  HttpResponse() = default;
  HttpResponse(int status_in, std::vector<HeaderField> headers_in, std::string body_in)
      : status(status_in), headers(std::move(headers_in)), body(std::move(body_in)) {}

  int status = 200;
  std::vector<HeaderField> headers;
  std::string body;
};

/// What a response says before its body.
struct ResponseHead {
  int status = 200;
  std::vector<HeaderField> headers;
};

}  // namespace zerohop

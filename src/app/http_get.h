// One blocking GET over plain HTTP, for commands that ask a running server. Any thread.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "core/error.h"

namespace zerohop {

/// For a page that a server has at hand.
inline constexpr std::chrono::seconds kHttpGetTime{10};

struct HttpGetOptions {
  Duration time = kHttpGetTime;
  std::string_view bearer = {};  ///< sent as Authorization: Bearer; empty: nothing is
};

/// Parts of `http://HOST[:PORT][/PATH]`.
struct HttpUrl {
  std::string host;  ///< a name or an address, IPv6 without its brackets
  std::string port = "80";
  std::string path = "/";
};

/// Whom a request to `url` is for, as the field Host says it (RFC 9110, section 7.2): an IPv6
/// address in its brackets, and the port where it is not the one of http.
std::string host_field(const HttpUrl& url);

/// Errors: kInvalidRequest (it is none, or has another scheme).
Result<HttpUrl> split_http_url(std::string_view text);

/// The body of `url` (`http://host:port/path`), at most 16 MiB. Errors: kInvalidRequest (no such
/// url), kAuthentication (401), kNotFound (nobody answers there in time, or not with 200; a message
/// in the body is told).
Result<std::string> http_get(std::string_view url, const HttpGetOptions& options = {});

}  // namespace zerohop

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

/// The body of `url` (`http://host:port/path`), at most 16 MiB. Errors: kInvalidRequest (no such
/// url), kAuthentication (401), kNotFound (nobody answers there in time, or not with 200; a message
/// in the body is told).
Result<std::string> http_get(std::string_view url, const HttpGetOptions& options = {});

}  // namespace zerohop

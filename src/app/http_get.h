// One blocking GET over plain HTTP, for commands that ask a running server. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"

namespace zerohop {

/// The body of `url` (`http://host:port/path`), at most 16 MiB. Errors: kInvalidRequest (no such
/// url), kNotFound (nobody answers there, or not with 200).
Result<std::string> http_get(std::string_view url);

}  // namespace zerohop

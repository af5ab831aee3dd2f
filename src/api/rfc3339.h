// Points in time as the wire writes them. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>

namespace zerohop {

/// Seconds since 1970 as `2026-11-29T21:00:00Z`. Years outside 1970 to 9999 have no place in the
/// format and are cut to it. Source: RFC 3339.
std::string rfc3339(std::int64_t unix_seconds);

}  // namespace zerohop

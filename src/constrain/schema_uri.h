// References between schemas: RFC 3986 resolution of a reference against a base, as far as `$id`
// and `$ref` need it. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace zerohop {

/// `reference` seen from `base` (RFC 3986, section 5.2). Either may be empty or relative; then so
/// is the result. A base that is not hierarchical (urn:…) gives way to everything but a fragment.
std::string resolve_uri(std::string_view base, std::string_view reference);

/// In front of the first '#', and behind it.
std::pair<std::string, std::string> split_fragment(std::string_view uri);

/// %XX decoded; a '%' that is not followed by two hexadecimal digits stays.
std::string percent_decoded(std::string_view text);

}  // namespace zerohop

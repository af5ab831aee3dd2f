// The languages of the `format` keyword, as terms.
//
// A text of the language always has the format; some languages leave out texts that have it, which
// is said here. Where that matters (the negation of a format) ask format_is_exact().
//
//   date                  RFC 3339, with the days of months and leap years
//   time, date-time       RFC 3339; a leap second is 23:59:60 UTC, with offsets in whole quarters
//                         of an hour
//   duration              RFC 3339, appendix A, in capitals
//   email                 RFC 5321; local part up to 64 characters, 254 in all; of the address
//                         literals those of IPv4 and IPv6
//   idn-email             RFC 6531; 64 bytes and 254 characters; labels of lower-case letters,
//                         digits and marks
//   hostname              RFC 1123; without A-labels (xn--…), whose validity no automaton can tell
//   ipv4, ipv6            RFC 2673, RFC 4291
//   uri, uri-reference    RFC 3986
//   iri, iri-reference    RFC 3987
//   uri-template          RFC 6570, without the operators that it reserves
//   uuid                  RFC 4122, any version and variant
//   json-pointer, relative-json-pointer    RFC 6901, and its draft extension
//
// Not here: idn-hostname (as A-labels) and regex (its groups nest).
//
// Pure; any thread.
#pragma once

#include <optional>
#include <string_view>

#include "constrain/regex_algebra.h"

namespace zerohop {

/// Nothing: the name is unknown, or its language cannot be written; the caller refuses.
std::optional<RegexTerm> format_language(RegexPool& pool, std::string_view name);

/// The language has all texts with the format, so its complement has none of them.
bool format_is_exact(std::string_view name);

}  // namespace zerohop

// Inside of string_formats.h: terms of parts that several formats share. Not for other users.
#pragma once

#include <string>
#include <string_view>

#include "constrain/regex_algebra.h"

namespace zerohop {

/// `pattern` is a literal of this program, matched as a whole.
RegexTerm pattern_term(RegexPool& pool, std::string_view pattern);

RegexTerm date_term(RegexPool& pool);
RegexTerm time_term(RegexPool& pool);

RegexTerm ipv4_term(RegexPool& pool);
/// `beside_gap_max`: groups at most written beside "::" (7 in RFC 4291, 6 in RFC 5321).
RegexTerm ipv6_term(RegexPool& pool, std::uint32_t beside_gap_max);
RegexTerm email_term(RegexPool& pool);
RegexTerm idn_email_term(RegexPool& pool);
RegexTerm hostname_term(RegexPool& pool);

/// RFC 3986 and RFC 3987.
struct UriKind {
  bool international = false;  ///< IRI
  bool reference = false;      ///< relative references too
};
RegexTerm uri_term(RegexPool& pool, const UriKind& kind);
RegexTerm uri_template_term(RegexPool& pool);

}  // namespace zerohop

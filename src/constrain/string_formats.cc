#include "constrain/string_formats.h"

#include <array>

#include "constrain/format_terms.h"
#include "constrain/regex_syntax.h"

namespace zerohop {

namespace {

constexpr std::string_view kPointer = "(/([^/~]|~[01])*)*";

RegexTerm duration_term(RegexPool& pool) {
  return pattern_term(pool,
                      "P(?:\\d+W"
                      "|(?:\\d+D|\\d+M(?:\\d+D)?|\\d+Y(?:\\d+M(?:\\d+D)?)?)"
                      "(?:T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S))?"
                      "|T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S))");
}

RegexTerm date_time_term(RegexPool& pool) {
  return pool.concat_of({date_term(pool), pattern_term(pool, "[Tt]"), time_term(pool)});
}

RegexTerm uuid_term(RegexPool& pool) {
  return pattern_term(pool, "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}");
}

RegexTerm pointer_term(RegexPool& pool) { return pattern_term(pool, kPointer); }

RegexTerm relative_pointer_term(RegexPool& pool) {
  return pattern_term(pool, "(?:0|[1-9]\\d*)(?:#|" + std::string(kPointer) + ")");
}

struct Format {
  std::string_view name;
  RegexTerm (*language)(RegexPool&);
  bool exact;
};

constexpr std::array kFormats{
    Format{"date", date_term, true},
    Format{"date-time", date_time_term, false},
    Format{"duration", duration_term, false},
    Format{"email", email_term, false},
    Format{"hostname", hostname_term, false},
    Format{"idn-email", idn_email_term, false},
    Format{"ipv4", ipv4_term, true},
    Format{"ipv6", [](RegexPool& pool) { return ipv6_term(pool, 7); }, true},
    Format{"iri", [](RegexPool& pool) { return uri_term(pool, {.international = true}); }, true},
    Format{
        "iri-reference",
        [](RegexPool& pool) { return uri_term(pool, {.international = true, .reference = true}); },
        true},
    Format{"json-pointer", pointer_term, true},
    Format{"relative-json-pointer", relative_pointer_term, true},
    Format{"time", time_term, false},
    Format{"uri", [](RegexPool& pool) { return uri_term(pool, {}); }, true},
    Format{"uri-reference", [](RegexPool& pool) { return uri_term(pool, {.reference = true}); },
           true},
    Format{"uri-template", uri_template_term, false},
    Format{"uuid", uuid_term, true},
};

const Format* find_format(std::string_view name) {
  for (const Format& format : kFormats) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

}  // namespace

RegexTerm pattern_term(RegexPool& pool, std::string_view pattern) {
  const Result<RegexTerm> term = parse_whole_pattern(pool, pattern);
  ZH_CHECK(term.ok() || pool.exhausted());
  return term.ok() ? *term : pool.nothing();
}

std::optional<RegexTerm> format_language(RegexPool& pool, std::string_view name) {
  const Format* const format = find_format(name);
  if (format == nullptr) return std::nullopt;
  return format->language(pool);
}

bool format_is_exact(std::string_view name) {
  const Format* const format = find_format(name);
  return format != nullptr && format->exact;
}

}  // namespace zerohop

// RFC 3986 (URI), RFC 3987 (IRI), RFC 6570 (URI templates).
#include "constrain/format_terms.h"

namespace zerohop {

namespace {

// ucschar and iprivate of RFC 3987.
constexpr std::string_view kUnicode =
    "\\u00a0-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\uffef"
    "\\u{10000}-\\u{1fffd}\\u{20000}-\\u{2fffd}\\u{30000}-\\u{3fffd}\\u{40000}-\\u{4fffd}"
    "\\u{50000}-\\u{5fffd}\\u{60000}-\\u{6fffd}\\u{70000}-\\u{7fffd}\\u{80000}-\\u{8fffd}"
    "\\u{90000}-\\u{9fffd}\\u{a0000}-\\u{afffd}\\u{b0000}-\\u{bfffd}\\u{c0000}-\\u{cfffd}"
    "\\u{d0000}-\\u{dfffd}\\u{e1000}-\\u{efffd}";
constexpr std::string_view kPrivate = "\\ue000-\\uf8ff\\u{f0000}-\\u{ffffd}\\u{100000}-\\u{10fffd}";
constexpr std::string_view kPercent = "%[0-9A-Fa-f]{2}";

/// The terms of one kind of reference.
class UriTerms {
 public:
  UriTerms(RegexPool& pool, const UriKind& kind) : pool_(pool), kind_(kind) {}

  RegexTerm term() {
    const RegexTerm hosted = concat({text(U"//"), authority(), segments()});
    const RegexTerm rootless = concat({some(path_character()), segments()});
    const RegexTerm rooted = concat({text(U"/"), optional(rootless)});
    const RegexTerm behind_scheme = pool_.either_of({hosted, rooted, rootless, pool_.empty()});
    const RegexTerm absolute = concat({pattern("[A-Za-z][0-9A-Za-z+.-]*:"), behind_scheme});
    const RegexTerm tail = concat(
        {optional(concat({text(U"?"), query()})), optional(concat({text(U"#"), fragment()}))});
    if (!kind_.reference) return concat({absolute, tail});
    // A colon in the first segment would make a scheme of what stands in front of it.
    const RegexTerm colonless = concat({some(characters("@")), segments()});
    const RegexTerm relative = pool_.either_of({hosted, rooted, colonless, pool_.empty()});
    return concat({pool_.either(absolute, relative), tail});
  }

 private:
  RegexTerm pattern(std::string_view text) { return pattern_term(pool_, text); }
  RegexTerm text(std::u32string_view word) { return pool_.text(word); }
  RegexTerm concat(const std::vector<RegexTerm>& parts) { return pool_.concat_of(parts); }
  RegexTerm optional(RegexTerm term) { return pool_.repeat(term, 0, 1); }
  RegexTerm any_number(RegexTerm term) { return pool_.repeat(term, 0, RegexPool::kNoBound); }
  RegexTerm some(RegexTerm term) { return pool_.repeat(term, 1, RegexPool::kNoBound); }

  /// unreserved, sub-delims, pct-encoded, and `more` (for brackets).
  RegexTerm characters(std::string more) {
    if (kind_.international) more += kUnicode;
    return pattern("[0-9A-Za-z._~!$&'()*+,;=" + more + "-]|" + std::string(kPercent));
  }
  RegexTerm path_character() { return characters(":@"); }
  RegexTerm query() {
    return any_number(characters(kind_.international ? ":@/?" + std::string(kPrivate) : ":@/?"));
  }
  RegexTerm fragment() { return any_number(characters(":@/?")); }

  RegexTerm authority() {
    const RegexTerm user = concat({any_number(characters(":")), text(U"@")});
    const RegexTerm future = pattern("[Vv][0-9A-Fa-f]+\\.[0-9A-Za-z._~!$&'()*+,;=:-]+");
    const RegexTerm literal =
        concat({text(U"["), pool_.either(ipv6_term(pool_, 7), future), text(U"]")});
    const RegexTerm host = pool_.either(any_number(characters("")), literal);
    return concat({optional(user), host, pattern("(?::\\d*)?")});
  }

  /// path-abempty
  RegexTerm segments() { return any_number(concat({text(U"/"), any_number(path_character())})); }

  RegexPool& pool_;
  UriKind kind_;
};

}  // namespace

RegexTerm uri_term(RegexPool& pool, const UriKind& kind) { return UriTerms(pool, kind).term(); }

RegexTerm uri_template_term(RegexPool& pool) {
  const std::string percent(kPercent);
  const std::string name = "(?:\\w|" + percent + ")(?:\\.?(?:\\w|" + percent + "))*";
  const std::string variable = name + "(?::[1-9]\\d{0,3}|\\*)?";
  const std::string expression = "\\{[+#./;?&]?" + variable + "(?:," + variable + ")*\\}";
  // The RFC's literals with the apostrophe, which an erratum adds.
  const std::string literal =
      "[!#$&-;=?-\\[\\]_a-z~" + std::string(kUnicode) + std::string(kPrivate) + "]|" + percent;
  return pattern_term(pool, "(?:" + literal + "|" + expression + ")*");
}

}  // namespace zerohop

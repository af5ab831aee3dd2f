// Addresses and names: IP, host, e-mail.
#include "constrain/format_terms.h"

namespace zerohop {

namespace {

constexpr std::string_view kOctet = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
constexpr std::string_view kGroup = "[0-9A-Fa-f]{1,4}";
constexpr std::string_view kLabel = "[0-9A-Za-z](?:[0-9A-Za-z-]{0,61}[0-9A-Za-z])?";
constexpr std::string_view kIdnLabel =
    "[0-9A-Za-z\\p{Ll}\\p{Lm}\\p{Lo}\\p{Nd}]"
    "(?:[0-9A-Za-z\\p{Ll}\\p{Lm}\\p{Lo}\\p{Mn}\\p{Mc}\\p{Nd}-]{0,61}"
    "[0-9A-Za-z\\p{Ll}\\p{Lm}\\p{Lo}\\p{Mn}\\p{Mc}\\p{Nd}])?";

std::string count(unsigned min, unsigned max) {
  return "{" + std::to_string(min) + "," + std::to_string(max) + "}";
}

RegexTerm characters(RegexPool& pool, std::uint32_t min, std::uint32_t max) {
  return pool.repeat(pool.one_of(CodePointSet::all()), min, max);
}

/// Words of at most `bytes` bytes of UTF-8: one term for each number of bytes that is left.
RegexTerm at_most_bytes(RegexPool& pool, std::size_t bytes) {
  const CodePointSet by_size[] = {
      {{0, 0x7f}}, {{0x80, 0x7ff}}, {{0x800, 0xffff}}, {{0x10000, kCodePointMax}}};
  std::vector<RegexTerm> shorter{pool.empty()};
  while (shorter.size() <= bytes) {
    std::vector<RegexTerm> ways{pool.empty()};
    for (std::size_t size = 1; size <= 4 && size <= shorter.size(); ++size) {
      ways.push_back(pool.concat(pool.one_of(by_size[size - 1]), shorter[shorter.size() - size]));
    }
    shorter.push_back(pool.either_of(std::move(ways)));
  }
  return shorter.back();
}

RegexTerm address_literal(RegexPool& pool) {
  const RegexTerm ipv6 = pool.concat(pool.text(U"IPv6:"), ipv6_term(pool, 6));
  return pool.concat_of({pool.text(U"["), pool.either(ipv4_term(pool), ipv6), pool.text(U"]")});
}

/// One label or several with dots between them.
RegexTerm dotted(RegexPool& pool, RegexTerm label) {
  const RegexTerm more = pool.concat(pool.text(U"."), label);
  return pool.concat(label, pool.repeat(more, 0, RegexPool::kNoBound));
}

/// What stands in front of the @. `more`: characters beyond ASCII, as inside of brackets.
RegexTerm local_part(RegexPool& pool, const std::string& more) {
  const std::string atom = "[\\w!#$%&'*+/=?^`{|}~" + more + "-]+";
  const std::string quoted = "\"(?:[ !#-\\[\\]-~" + more + "]|\\\\[ -~])*\"";
  return pattern_term(pool, atom + "(?:\\." + atom + ")*|" + quoted);
}

RegexTerm mailbox(RegexPool& pool, RegexTerm local, RegexTerm domain) {
  const RegexTerm host = pool.either(domain, address_literal(pool));
  return pool.both(pool.concat_of({local, pool.text(U"@"), host}), characters(pool, 3, 254));
}

}  // namespace

RegexTerm ipv4_term(RegexPool& pool) {
  const std::string octet(kOctet);
  return pattern_term(pool, "(?:" + octet + "\\.){3}" + octet);
}

RegexTerm ipv6_term(RegexPool& pool, std::uint32_t beside_gap_max) {
  const std::string group(kGroup);
  const RegexTerm ipv4 = ipv4_term(pool);
  std::vector<RegexTerm> ways{
      pattern_term(pool, "(?:" + group + ":){7}" + group),
      pool.concat(pattern_term(pool, "(?:" + group + ":){6}"), ipv4),
  };
  // Some groups, "::", as many as are left or fewer; the last two may be an IPv4 address.
  for (unsigned before = 0; before <= beside_gap_max; ++before) {
    std::string left;
    if (before > 0) left = group + "(?::" + group + ")" + count(before - 1, before - 1);
    left += "::";
    const unsigned behind = beside_gap_max - before;
    std::string right = left;
    if (behind > 0) right += "(?:" + group + "(?::" + group + ")" + count(0, behind - 1) + ")?";
    ways.push_back(pattern_term(pool, right));
    if (behind < 2) continue;
    ways.push_back(
        pool.concat(pattern_term(pool, left + "(?:" + group + ":)" + count(0, behind - 2)), ipv4));
  }
  return pool.either_of(std::move(ways));
}

RegexTerm hostname_term(RegexPool& pool) {
  const RegexTerm coded = pattern_term(pool, "[Xx][Nn]--[^]*");
  const RegexTerm plain = pool.both(pattern_term(pool, kLabel), pool.complement(coded));
  return pool.both(dotted(pool, plain), characters(pool, 1, 253));
}

RegexTerm email_term(RegexPool& pool) {
  const RegexTerm local = pool.both(local_part(pool, ""), characters(pool, 1, 64));
  return mailbox(pool, local, dotted(pool, pattern_term(pool, kLabel)));
}

RegexTerm idn_email_term(RegexPool& pool) {
  const RegexTerm local =
      pool.both(local_part(pool, "\\u0080-\\u{10ffff}"), at_most_bytes(pool, 64));
  return mailbox(pool, local, dotted(pool, pattern_term(pool, kIdnLabel)));
}

}  // namespace zerohop

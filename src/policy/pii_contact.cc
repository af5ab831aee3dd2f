// E-mail addresses and phone numbers.
#include <algorithm>
#include <array>

#include "policy/pii_parts.h"

namespace zerohop {
namespace {

// RFC 5321: 64 bytes in front of the `@`, 255 behind it.
constexpr std::size_t kLocalBytesMax = 64;
constexpr std::size_t kDomainBytesMax = 255;
constexpr std::size_t kLabelBytesMax = 63;

// What people have in their addresses. RFC 5321 allows more, but `=`, `/` and `&` end the name of
// something in front far more often.
bool is_local_byte(char c) {
  constexpr std::string_view kMarks = "._+-'~!#";
  return is_ascii_word(c) || kMarks.find(c) != kMarks.npos;
}

// The first byte of what stands in front of the `@`; `at` when nothing does.
std::size_t local_begin(std::string_view text, std::size_t at, std::size_t least) {
  const std::size_t floor = std::max(least, at > kLocalBytesMax ? at - kLocalBytesMax : 0);
  std::size_t begin = at;
  const bool plain = at > floor && is_local_byte(text[at - 1]);
  while (begin > floor) {
    const char c = text[begin - 1];
    if (plain ? !is_local_byte(c) : !is_beyond_ascii(c)) break;
    --begin;
  }
  // `to='jo@…`, `<mailto:/jo@…`: marks in front are none of it.
  while (plain && begin < at && !is_ascii_word(text[begin]) && text[begin] != '_') ++begin;
  return begin;
}

struct Domain {
  std::size_t end = 0;
  std::size_t labels = 0;
  std::size_t numeric_labels = 0;  // at its beginning
  bool top_is_name = false;        // the last one is no number
};

bool is_label_byte(char c) { return is_ascii_word(c) || c == '-' || is_beyond_ascii(c); }

// Labels with dots between; `end` is behind the last one that ends well.
Domain read_domain(std::string_view text, std::size_t begin) {
  Domain domain;
  const std::size_t most = std::min(text.size(), begin + kDomainBytesMax);
  std::size_t at = begin;
  bool only_numbers = true;
  while (at < most) {
    const std::size_t label = at;
    bool number = true;
    while (at < most && at - label < kLabelBytesMax && is_label_byte(text[at])) {
      number = number && is_ascii_digit(text[at]);
      ++at;
    }
    std::size_t end = at;
    while (end > label && text[end - 1] == '-') --end;
    if (end == label || text[label] == '-') break;
    only_numbers = only_numbers && number;
    if (only_numbers) ++domain.numeric_labels;
    ++domain.labels;
    domain.end = end;
    domain.top_is_name = end - label >= 2 && !is_ascii_digit(text[label]);
    if (end != at || byte_at(text, at) != '.') break;
    ++at;
  }
  return domain;
}

}  // namespace

// `pkg@1.2.3` and `@name` are none; `jo@163.com` is one.
std::optional<PiiSpan> email_around(std::string_view text, std::size_t at, std::size_t least) {
  const std::size_t begin = local_begin(text, at, least);
  if (begin == at) return std::nullopt;
  const std::size_t mark = text[at] == '@' ? 1 : 3;
  const Domain domain = read_domain(text, at + mark);
  if (domain.labels < 2 || domain.numeric_labels > 1 || !domain.top_is_name) return std::nullopt;
  return PiiSpan{PiiKind::kEmail, begin, domain.end};
}

namespace {

// A run of digits in groups: what a phone number looks like before one knows whether it is one.
struct DigitGroups {
  static constexpr std::size_t kMost = 8;
  static constexpr std::size_t kDigitsMax = 18;

  std::array<std::size_t, kMost> lengths{};
  std::array<std::size_t, kMost> ends{};  // in the text
  std::size_t count = 0;
  std::array<char, kDigitsMax> digits{};
  std::size_t total = 0;
  bool plus = false;      // begins with `+`
  bool brackets = false;  // the first group stands in brackets
  char separator = '\0';  // between the first two groups
  bool whole = false;     // no further digit or letter follows

  std::string_view text() const { return {digits.data(), total}; }
  bool has_lengths(std::initializer_list<std::size_t> wanted) const {
    return count == wanted.size() && std::equal(wanted.begin(), wanted.end(), lengths.begin());
  }
};

bool is_separator(char c) { return c == ' ' || c == '-' || c == '.' || c == '/' || c == '\xa0'; }

// Between two groups: one separator, a closing and an opening bracket among at most three bytes.
std::size_t skip_separators(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end - at < 3 && (is_separator(byte_at(text, end)) || byte_at(text, end) == ')' ||
                          byte_at(text, end) == '(')) {
    ++end;
  }
  return end;
}

DigitGroups read_groups(std::string_view text, std::size_t at) {
  DigitGroups groups;
  groups.plus = text[at] == '+';
  if (groups.plus) ++at;
  groups.brackets = byte_at(text, at) == '(';
  if (groups.brackets) ++at;
  while (groups.count < DigitGroups::kMost) {
    const std::size_t begin = at;
    while (groups.total < DigitGroups::kDigitsMax && is_ascii_digit(byte_at(text, at))) {
      groups.digits[groups.total++] = text[at++];
    }
    if (at == begin) break;
    groups.ends[groups.count] = at;
    groups.lengths[groups.count++] = at - begin;
    const std::size_t next = skip_separators(text, at);
    if (next == at || !is_ascii_digit(byte_at(text, next))) break;
    if (groups.count == 1) groups.separator = text[at];
    at = next;
  }
  if (groups.count > 0) at = groups.ends[groups.count - 1];
  // An extension (`x123`) may follow.
  const char behind = byte_at(text, at);
  groups.whole = !is_ascii_digit(behind) && (!is_ascii_letter(behind) || behind == 'x');
  return groups;
}

bool is_area(std::string_view digits) { return digits[0] >= '2' && digits[3] >= '2'; }

// 202-555-0143, (202) 555-0143, 1-202-555-0143, 202.555.0143.
bool is_north_american(const DigitGroups& groups) {
  if (groups.has_lengths({3, 3, 4})) return is_area(groups.text());
  return groups.has_lengths({1, 3, 3, 4}) && groups.text()[0] == '1' &&
         is_area(groups.text().substr(1));
}

bool is_chinese_mobile(const DigitGroups& groups) {
  const bool form = groups.has_lengths({11}) || groups.has_lengths({3, 4, 4});
  return form && groups.text()[0] == '1' && groups.text()[1] >= '3';
}

bool looks_like_date(const DigitGroups& groups) {
  const auto& lengths = groups.lengths;
  return groups.count >= 3 && ((lengths[0] == 2 && lengths[1] == 2 && lengths[2] == 4) ||
                               (lengths[0] == 4 && lengths[1] == 2 && lengths[2] == 2));
}

// A trunk prefix and groups: 030 901820, 01 23 45 67 89, 0151-23456789, 020 7946 0958.
bool is_national(const DigitGroups& groups) {
  const std::string_view digits = groups.text();
  if (groups.count < 2 || digits[0] != '0' || digits[1] < '1') return false;
  if (groups.total < 9 || groups.total > 12 || looks_like_date(groups)) return false;
  const auto& lengths = groups.lengths;
  return lengths[0] >= 2 && lengths[0] <= 5 &&
         std::all_of(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(groups.count),
                     [](std::size_t length) { return length >= 2; });
}

// 0049 30 901820.
bool is_dialled_abroad(const DigitGroups& groups) {
  const std::string_view digits = groups.text();
  return digits.starts_with("00") && digits[2] >= '1' && groups.total >= 11 && groups.total <= 17;
}

}  // namespace

std::optional<std::size_t> phone_from(std::string_view text, std::size_t at) {
  // `1.5`, `v=-030`, a path or a longer number: this is the rest of something else.
  const char before = byte_before(text, at);
  if (before == '.' || before == '-' || before == '_' || before == '+') return std::nullopt;
  DigitGroups groups = read_groups(text, at);
  if (groups.total < 7 || !groups.whole) return std::nullopt;
  const std::size_t end = groups.ends[groups.count - 1];
  if (groups.plus) {
    const bool form = groups.text()[0] != '0' && groups.total >= 8 && groups.total <= 15;
    return form ? std::optional(end) : std::nullopt;
  }
  const bool found = is_north_american(groups) || is_chinese_mobile(groups) ||
                     is_national(groups) || is_dialled_abroad(groups);
  return found ? std::optional(end) : std::nullopt;
}

}  // namespace zerohop

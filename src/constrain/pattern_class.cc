#include "constrain/pattern_class.h"

#include <algorithm>

#include "base/hex.h"
#include "constrain/unicode_property.h"

namespace zerohop {

namespace {

constexpr std::uint32_t kCountMax = RegexPool::kNoBound - 1;

bool is_digit(char32_t letter) { return letter >= U'0' && letter <= U'9'; }

bool is_ascii_letter(char32_t letter) {
  return (letter >= U'a' && letter <= U'z') || (letter >= U'A' && letter <= U'Z');
}

CodePointSet digit_characters() { return {{U'0', U'9'}}; }

CodePointSet space_characters() {
  return {{9, 13},          {U' ', U' '},     {0xa0, 0xa0},     {0x1680, 0x1680}, {0x2000, 0x200a},
          {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}, {0xfeff, 0xfeff}};
}

std::optional<CodePointSet> class_escape(char32_t letter) {
  switch (letter) {
    case U'd': return digit_characters();
    case U'D': return digit_characters().complement();
    case U'w': return word_characters();
    case U'W': return word_characters().complement();
    case U's': return space_characters();
    case U'S': return space_characters().complement();
    default: return std::nullopt;
  }
}

std::optional<char32_t> control_escape(char32_t letter) {
  constexpr std::u32string_view kLetters = U"tnvfr";
  constexpr std::u32string_view kControls = U"\t\n\v\f\r";
  const std::size_t place = kLetters.find(letter);
  if (place == std::u32string_view::npos) return std::nullopt;
  return kControls[place];
}

}  // namespace

Error pattern_error(std::size_t position, std::string what) {
  return invalid_request("",
                         "at character " + std::to_string(position + 1) + ": " + std::move(what));
}

CodePointSet word_characters() { return {{U'0', U'9'}, {U'A', U'Z'}, {U'_', U'_'}, {U'a', U'z'}}; }

Error PatternReader::error(std::string what) const { return pattern_error(at_, std::move(what)); }

PatternEscape PatternReader::one(char32_t code_point) {
  return {.set = CodePointSet{{code_point, code_point}}, .single = true, .code_point = code_point};
}

bool PatternReader::take(char32_t letter) {
  if (done() || peek() != letter) return false;
  ++at_;
  return true;
}

std::optional<std::uint32_t> PatternReader::hex(std::size_t digits) {
  if (pattern_.size() - at_ < digits) return std::nullopt;
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const int digit = hex_digit_value(pattern_[at_ + i]);
    if (digit < 0) return std::nullopt;
    value = value << 4 | static_cast<std::uint32_t>(digit);
  }
  at_ += digits;
  return value;
}

// Capped: counts beyond 2^32 are as good as that.
std::optional<std::uint32_t> PatternReader::number() {
  if (done() || !is_digit(peek())) return std::nullopt;
  std::uint64_t value = 0;
  while (!done() && is_digit(peek())) {
    value = std::min<std::uint64_t>(kCountMax, value * 10 + (next() - U'0'));
  }
  return static_cast<std::uint32_t>(value);
}

Result<PatternEscape> PatternReader::unicode_escape() {
  if (take(U'{')) {
    std::uint32_t value = 0;
    std::size_t digits = 0;
    for (; !done() && hex_digit_value(peek()) >= 0; ++digits) {
      value = value << 4 | static_cast<std::uint32_t>(hex_digit_value(next()));
      if (value > kCodePointMax) return error("\\u{…} above U+10FFFF");
    }
    if (digits == 0 || !take(U'}')) return error("\\u{…} is not complete");
    return one(value);
  }
  const auto unit = hex(4);
  if (!unit) return error("\\u needs four hexadecimal digits");
  if (*unit >= 0xd800 && *unit <= 0xdbff && pattern_.substr(at_).starts_with(U"\\u")) {
    const std::size_t before = at_;
    at_ += 2;
    const auto low = hex(4);
    if (low && *low >= 0xdc00 && *low <= 0xdfff) {
      return one(0x10000 + ((*unit - 0xd800) << 10) + (*low - 0xdc00));
    }
    at_ = before;
  }
  return one(*unit);
}

Result<PatternEscape> PatternReader::property(char32_t letter) {
  if (!take(U'{')) return error("\\p needs a property in braces");
  std::string name;
  while (!done() && peek() != U'}' && peek() < 0x80 && name.size() < 64) {
    name.push_back(static_cast<char>(next()));
  }
  if (!take(U'}')) return error("\\p{…} is not closed");
  std::optional<CodePointSet> set = unicode_property(name);
  if (!set) return error("the property '" + name + "' is not known");
  return PatternEscape{.set = letter == U'P' ? set->complement() : *std::move(set)};
}

Result<PatternEscape> PatternReader::escape() {
  if (done()) return error("a backslash at the end");
  const char32_t letter = next();
  if (auto set = class_escape(letter)) return PatternEscape{.set = *std::move(set)};
  if (const auto control = control_escape(letter)) return one(*control);
  if (letter == U'p' || letter == U'P') return property(letter);
  if (letter == U'u') return unicode_escape();
  if (letter == U'x') {
    const auto value = hex(2);
    if (!value) return error("\\x needs two hexadecimal digits");
    return one(*value);
  }
  if (letter == U'c') {
    if (done() || !is_ascii_letter(peek())) return error("\\c needs a letter");
    return one(next() % 32);
  }
  if (letter == U'0' && (done() || !is_digit(peek()))) return one(0);
  if (is_digit(letter)) return error("back-references are not regular");
  if (letter == U'k') return error("named back-references are not regular");
  if (is_ascii_letter(letter)) {
    return error(std::string("the escape \\") + static_cast<char>(letter) + " is not known");
  }
  return one(letter);
}

Result<PatternEscape> PatternReader::bracket_member() {
  if (!take(U'\\')) return one(next());
  if (take(U'b')) return one(8);
  if (take(U'B')) return error("\\B in brackets");
  return escape();
}

Result<CodePointSet> PatternReader::bracket() {
  const std::size_t open = at_;
  const bool negated = take(U'^');
  std::vector<CodePointRange> ranges;
  CodePointSet classes;
  while (!take(U']')) {
    if (done()) return pattern_error(open, "'[' is never closed");
    ZH_ASSIGN_OR_RETURN(const PatternEscape first, bracket_member());
    const bool range = at_ + 1 < pattern_.size() && peek() == U'-' && pattern_[at_ + 1] != U']';
    if (!first.single) {
      classes = classes | first.set;  // a '-' behind a class is itself
      continue;
    }
    if (!range) {
      ranges.push_back({first.code_point, first.code_point});
      continue;
    }
    ++at_;
    ZH_ASSIGN_OR_RETURN(const PatternEscape last, bracket_member());
    if (!last.single) {
      classes = classes | last.set;
      ranges.push_back({first.code_point, first.code_point});
      ranges.push_back({U'-', U'-'});
      continue;
    }
    if (last.code_point < first.code_point) return error("a range that ends before it begins");
    ranges.push_back({first.code_point, last.code_point});
  }
  const CodePointSet set = CodePointSet::of(std::move(ranges)) | classes;
  return negated ? set.complement() : set;
}

bool PatternReader::looks_like_count() const {
  PatternReader ahead = *this;
  const bool least = ahead.number().has_value();
  if (least && ahead.take(U'}')) return true;
  if (!ahead.take(U',')) return false;
  const bool most = ahead.number().has_value();
  return (least || most) && ahead.take(U'}');
}

Result<std::optional<PatternCount>> PatternReader::count() {
  std::optional<PatternCount> found;
  if (take(U'*')) {
    found = PatternCount{};
  } else if (take(U'+')) {
    found = PatternCount{.min = 1};
  } else if (take(U'?')) {
    found = PatternCount{.max = 1};
  } else if (!done() && peek() == U'{') {
    PatternReader inside = *this;
    inside.next();
    if (!inside.looks_like_count()) return found;
    ++at_;
    const auto least = number();
    // Other dialects read {,n} as {0,n}, this one as text or not at all.
    if (!least) return error("a count without its lower bound");
    found = PatternCount{.min = *least, .max = *least};
    if (take(U',')) found->max = number().value_or(RegexPool::kNoBound);
    take(U'}');
    if (found->max < found->min) return error("a count whose bounds are the wrong way round");
  }
  if (found) take(U'?');
  return found;
}

bool PatternReader::group_name() {
  std::size_t letters = 0;
  while (!done() && peek() != U'>') {
    const char32_t letter = next();
    const bool fits = is_ascii_letter(letter) || letter == U'_' || letter == U'$' ||
                      letter >= 0x80 || (letters > 0 && is_digit(letter));
    if (!fits) return false;
    ++letters;
  }
  return letters > 0 && take(U'>');
}

}  // namespace zerohop

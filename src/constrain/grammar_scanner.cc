#include "constrain/grammar_scanner.h"

#include <algorithm>
#include <vector>

#include "base/hex.h"
#include "base/utf8.h"

namespace zerohop {
namespace {

bool is_space(char byte) {
  return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r' || byte == '\f';
}
bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }
bool is_letter(char byte) {
  const char lower = static_cast<char>(byte | 0x20);
  return (lower >= 'a' && lower <= 'z') || byte == '_';
}

std::size_t name_end(std::string_view text, std::size_t at, GrammarDialect dialect) {
  if (at >= text.size() || !(is_letter(text[at]) || is_digit(text[at]))) return at;
  // GBNF names may have hyphens; in Lark "->" follows a name without a blank at times.
  const bool hyphens = dialect == GrammarDialect::kGbnf;
  while (at < text.size() &&
         (is_letter(text[at]) || is_digit(text[at]) || (hyphens && text[at] == '-'))) {
    ++at;
  }
  return at;
}

}  // namespace

std::nullopt_t GrammarScanner::fail_at(std::size_t at, std::string_view what) {
  if (!failed()) {
    fault_ = what;
    fault_at_ = at;
  }
  return std::nullopt;
}

bool GrammarScanner::take(std::string_view piece) {
  if (!looking_at(piece)) return false;
  at_ += piece.size();
  return true;
}

void GrammarScanner::skip_spaces() {
  while (!at_end()) {
    if (is_space(peek())) {
      ++at_;
    } else if (peek() == '#' || (dialect_ == GrammarDialect::kLark && looking_at("//"))) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

std::string_view GrammarScanner::name() {
  const std::size_t end = name_end(text_, at_, dialect_);
  const std::string_view found = text_.substr(at_, end - at_);
  at_ = end;
  return found;
}

bool GrammarScanner::definition_ahead() const {
  std::size_t at = at_;
  const auto next = [&] { return at < text_.size() ? text_[at] : '\0'; };
  const bool lark = dialect_ == GrammarDialect::kLark;
  while (lark && (next() == '?' || next() == '!')) ++at;
  const std::size_t end = name_end(text_, at, dialect_);
  if (end == at) return false;
  at = end;
  if (lark && next() == '.' && at + 1 < text_.size() &&
      (is_digit(text_[at + 1]) || text_[at + 1] == '-')) {
    ++at;
    while (is_digit(next()) || next() == '-') ++at;
  }
  while (is_space(next())) ++at;
  if (lark) return next() == ':' || next() == '{';
  return text_.substr(at, 3) == "::=";
}

std::optional<std::uint32_t> GrammarScanner::count() {
  constexpr std::uint32_t kCountMax = 1'000'000;
  if (!is_digit(peek())) return fail("a number is missing");
  std::uint32_t value = 0;
  for (; is_digit(peek()); ++at_) {
    value = value * 10 + static_cast<std::uint32_t>(peek() - '0');
    if (value > kCountMax) return fail("the number is too large");
  }
  return value;
}

std::optional<char32_t> GrammarScanner::hex(std::size_t digits) {
  char32_t code = 0;
  for (std::size_t i = 0; i < digits; ++i, ++at_) {
    const int digit = hex_digit_value(peek());
    if (digit < 0) return fail("a hexadecimal digit is missing");
    code = code * 16 + static_cast<char32_t>(digit);
  }
  if (!is_scalar_value(code)) return fail("no such character");
  return code;
}

// Behind the backslash.
std::optional<char32_t> GrammarScanner::escape() {
  const char letter = peek();
  ++at_;
  switch (letter) {
    case 'n': return U'\n';
    case 'r': return U'\r';
    case 't': return U'\t';
    case 'b': return U'\b';
    case 'f': return U'\f';
    case 'x': return hex(2);
    case 'u': return hex(4);
    case 'U': return hex(8);
    default: break;
  }
  constexpr std::string_view kThemselves = "\"'\\/[]-^.";
  if (letter != '\0' && kThemselves.find(letter) != std::string_view::npos) {
    return static_cast<char32_t>(letter);
  }
  return fail_at(at_ - 2, "no such escape");
}

std::optional<char32_t> GrammarScanner::character() {
  if (take("\\")) return escape();
  return utf8_next(text_, at_);
}

std::optional<std::u32string> GrammarScanner::quoted() {
  const std::size_t begin = at_;
  std::u32string word;
  while (!take("\"")) {
    if (at_end() || peek() == '\n') return fail_at(begin - 1, "the text has no closing quote");
    const std::optional<char32_t> next = character();
    if (!next) return std::nullopt;
    word.push_back(*next);
  }
  return word;
}

std::optional<CodePointSet> GrammarScanner::character_class() {
  const std::size_t begin = at_;
  const bool negated = take("^");
  std::vector<CodePointRange> ranges;
  while (!take("]")) {
    if (at_end()) return fail_at(begin - 1, "the class has no closing bracket");
    const std::optional<char32_t> first = character();
    if (!first) return std::nullopt;
    CodePointRange range{*first, *first};
    if (peek() == '-' && peek(1) != ']') {
      ++at_;
      if (at_end()) return fail_at(begin - 1, "the class has no closing bracket");
      const std::optional<char32_t> last = character();
      if (!last) return std::nullopt;
      if (*last < *first) return fail("the range ends before it begins");
      range.last = *last;
    }
    ranges.push_back(range);
  }
  const CodePointSet set = CodePointSet::of(std::move(ranges));
  return negated ? set.complement() : set;
}

std::optional<std::string_view> GrammarScanner::regex() {
  const std::size_t begin = at_;
  bool in_class = false;
  for (; !at_end() && peek() != '\n'; ++at_) {
    if (peek() == '\\') {
      ++at_;
    } else if (peek() == '[') {
      in_class = true;
    } else if (peek() == ']') {
      in_class = false;
    } else if (peek() == '/' && !in_class) {
      const std::string_view pattern = text_.substr(begin, at_ - begin);
      ++at_;
      return pattern;
    }
  }
  return fail_at(begin - 1, "the regex has no closing slash");
}

}  // namespace zerohop

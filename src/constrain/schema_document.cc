#include "constrain/schema_document.h"

#include <algorithm>
#include <unordered_set>

#include "base/hex.h"
#include "base/utf8.h"
#include "constrain/json_text.h"

namespace zerohop {
namespace {

using Type = JsonNode::Type;

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

// The end of the RFC 8259 number at `begin`, or `begin` when there is none.
std::size_t number_end(std::string_view text, std::size_t begin) {
  std::size_t at = begin;
  const auto digits = [&] {
    const std::size_t first = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at > first;
  };
  if (at < text.size() && text[at] == '-') ++at;
  if (at < text.size() && text[at] == '0') {
    ++at;
  } else if (!digits()) {
    return begin;
  }
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!digits()) return begin;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!digits()) return begin;
  }
  return at;
}

// Recursive descent; the depth is bounded by the limits.
class Parser {
 public:
  Parser(std::string_view text, const JsonLimits& limits) : text_(text), limits_(limits) {}

  Result<JsonNode> document() {
    if (text_.size() > limits_.bytes_max) {
      return invalid_request(
          {}, "the JSON text has more than " + std::to_string(limits_.bytes_max) + " bytes");
    }
    if (const std::size_t valid = utf8_valid_prefix(text_); valid != text_.size()) {
      return fault(valid, "not UTF-8");
    }
    JsonNode root;
    skip_spaces();
    if (!value(root, 0)) return fault(fault_at_, fault_);
    skip_spaces();
    if (at_ != text_.size()) return fault(at_, "text behind the JSON value");
    return root;
  }

 private:
  static Error fault(std::size_t at, std::string_view what) {
    return invalid_request({}, "not JSON at byte " + std::to_string(at) + ": " + std::string(what));
  }

  bool fail(std::string_view what) { return fail_at(at_, what); }
  bool fail_at(std::size_t at, std::string_view what) {
    fault_ = what;
    fault_at_ = at;
    return false;
  }

  void skip_spaces() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
      ++at_;
    }
  }

  bool take(char byte) {
    if (at_ >= text_.size() || text_[at_] != byte) return false;
    ++at_;
    return true;
  }

  bool word(JsonNode& node, std::string_view wanted, Type type) {
    if (text_.substr(at_, wanted.size()) != wanted) return fail("no value begins so");
    at_ += wanted.size();
    node.type = type;
    return true;
  }

  bool value(JsonNode& node, std::size_t depth) {
    if (++nodes_ > limits_.nodes_max) return fail("more values than are allowed");
    if (at_ >= text_.size()) return fail("a value is missing");
    switch (text_[at_]) {
      case '{': return depth < limits_.depth_max ? object(node, depth) : fail("nested too deep");
      case '[': return depth < limits_.depth_max ? array(node, depth) : fail("nested too deep");
      case '"': node.type = Type::kString; return string(node.text);
      case 't': return word(node, "true", Type::kTrue);
      case 'f': return word(node, "false", Type::kFalse);
      case 'n': return word(node, "null", Type::kNull);
      default: return number(node);
    }
  }

  bool number(JsonNode& node) {
    const std::size_t end = number_end(text_, at_);
    if (end == at_) return fail("no value begins so");
    node.type = Type::kNumber;
    node.text = text_.substr(at_, end - at_);
    // Only with an exponent can a number be out of reach.
    if (node.text.find_first_of("eE") != std::string::npos && !parse_decimal(node.text).ok()) {
      return fail("the number's exponent is out of range");
    }
    at_ = end;
    return true;
  }

  bool array(JsonNode& node, std::size_t depth) {
    node.type = Type::kArray;
    ++at_;
    skip_spaces();
    if (take(']')) return true;
    while (true) {
      skip_spaces();
      node.items.emplace_back();
      if (!value(node.items.back(), depth + 1)) return false;
      skip_spaces();
      if (take(']')) return true;
      if (!take(',')) return fail("expected ',' or ']'");
    }
  }

  bool object(JsonNode& node, std::size_t depth) {
    node.type = Type::kObject;
    ++at_;
    skip_spaces();
    if (take('}')) return true;
    std::unordered_set<std::string> names;  // only for objects that are not small
    while (true) {
      skip_spaces();
      const std::size_t name_at = at_;
      if (at_ >= text_.size() || text_[at_] != '"') return fail("expected a member's name");
      std::string name;
      if (!string(name)) return false;
      if (repeated(node, names, name)) return fail_at(name_at, "this name was there before");
      skip_spaces();
      if (!take(':')) return fail("expected ':'");
      skip_spaces();
      node.members.emplace_back(std::move(name), JsonNode());
      if (!value(node.members.back().second, depth + 1)) return false;
      skip_spaces();
      if (take('}')) return true;
      if (!take(',')) return fail("expected ',' or '}'");
    }
  }

  static bool repeated(const JsonNode& node, std::unordered_set<std::string>& names,
                       const std::string& name) {
    constexpr std::size_t kSmall = 16;
    if (node.members.size() < kSmall) return node.find(name) != nullptr;
    if (names.empty()) {
      for (const auto& [earlier, unused] : node.members) names.insert(earlier);
    }
    return !names.insert(name).second;
  }

  bool string(std::string& decoded) {
    const std::size_t begin = at_++;
    bool escapes = false;
    while (true) {
      if (at_ >= text_.size()) return fail_at(begin, "the string has no end");
      const auto byte = static_cast<unsigned char>(text_[at_]);
      if (byte < 0x20) return fail("a control character in a string must be escaped");
      if (byte == '"') break;
      if (byte == '\\') {
        escapes = true;
        if (!escape()) return false;
      } else {
        ++at_;
      }
    }
    ++at_;
    const std::string_view quoted = text_.substr(begin, at_ - begin);
    if (escapes) {
      decoded = json_unquoted(quoted);
    } else {
      decoded = quoted.substr(1, quoted.size() - 2);
    }
    return true;
  }

  bool escape() {
    const char letter = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (letter != 'u') {
      constexpr std::string_view kLetters = "\"\\/bfnrt";
      if (kLetters.find(letter) == std::string_view::npos) return fail("no such escape");
      at_ += 2;
      return true;
    }
    const int first = hex(at_ + 2);
    if (first < 0) return fail("\\u needs four hexadecimal digits");
    constexpr int kHighFirst = 0xd800, kLowFirst = 0xdc00, kLowLast = 0xdfff;
    if (first < kHighFirst || first > kLowLast) {
      at_ += 6;
      return true;
    }
    const bool pair = first < kLowFirst && text_.substr(at_ + 6, 2) == "\\u" &&
                      hex(at_ + 8) >= kLowFirst && hex(at_ + 8) <= kLowLast;
    if (!pair) return fail("half a surrogate pair is no character");
    at_ += 12;
    return true;
  }

  // The value of four hexadecimal digits, or -1.
  int hex(std::size_t at) const {
    if (at + 4 > text_.size()) return -1;
    int code = 0;
    for (const char byte : text_.substr(at, 4)) {
      const int digit = hex_digit_value(byte);
      if (digit < 0) return -1;
      code = code * 16 + digit;
    }
    return code;
  }

  std::string_view text_;
  JsonLimits limits_;
  std::size_t at_ = 0;
  std::size_t nodes_ = 0;
  std::string_view fault_;  // static text
  std::size_t fault_at_ = 0;
};

void append_text(std::string& text, const JsonNode& node) {
  switch (node.type) {
    case Type::kNull: text += "null"; return;
    case Type::kFalse: text += "false"; return;
    case Type::kTrue: text += "true"; return;
    case Type::kNumber: text += node.text; return;
    case Type::kString: text += json_quoted(node.text); return;
    case Type::kArray: {
      char before = '[';
      for (const JsonNode& item : node.items) {
        text += std::exchange(before, ',');
        append_text(text, item);
      }
      text += node.items.empty() ? "[]" : "]";
      return;
    }
    case Type::kObject: {
      char before = '{';
      for (const auto& [name, value] : node.members) {
        text += std::exchange(before, ',');
        text += json_quoted(name);
        text += ':';
        append_text(text, value);
      }
      text += node.members.empty() ? "{}" : "}";
      return;
    }
  }
}

bool numbers_equal(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto first = parse_decimal(a);
  const auto second = parse_decimal(b);
  return first.ok() && second.ok() && *first == *second;
}

using Member = std::pair<std::string, JsonNode>;

std::vector<const Member*> by_name(const JsonNode& object) {
  std::vector<const Member*> sorted;
  sorted.reserve(object.members.size());
  for (const Member& member : object.members) sorted.push_back(&member);
  std::sort(sorted.begin(), sorted.end(),
            [](const Member* a, const Member* b) { return a->first < b->first; });
  return sorted;
}

bool members_equal(const JsonNode& a, const JsonNode& b) {
  if (a.members.size() != b.members.size()) return false;
  const auto first = by_name(a);
  const auto second = by_name(b);
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i]->first != second[i]->first) return false;
    if (!json_equal(first[i]->second, second[i]->second)) return false;
  }
  return true;
}

}  // namespace

const JsonNode* JsonNode::find(std::string_view name) const {
  for (const auto& [member, value] : members) {
    if (member == name) return &value;
  }
  return nullptr;
}

bool json_equal(const JsonNode& a, const JsonNode& b) {
  if (a.type != b.type) return false;
  switch (a.type) {
    case Type::kNumber: return numbers_equal(a.text, b.text);
    case Type::kString: return a.text == b.text;
    case Type::kArray:
      return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), json_equal);
    case Type::kObject: return members_equal(a, b);
    default: return true;
  }
}

Result<JsonNode> parse_json_node(std::string_view text, const JsonLimits& limits) {
  return Parser(text, limits).document();
}

std::string to_json_text(const JsonNode& node) {
  std::string text;
  append_text(text, node);
  return text;
}

int compare(const Decimal& a, const Decimal& b) {
  const auto sign = [](const Decimal& d) { return d.digits.empty() ? 0 : d.negative ? -1 : 1; };
  if (sign(a) != sign(b)) return sign(a) < sign(b) ? -1 : 1;
  if (sign(a) == 0) return 0;
  // At the same place, without zeros at the ends, texts compare as the fractions do.
  int magnitude = a.digits.compare(b.digits);
  if (a.place() != b.place()) magnitude = a.place() < b.place() ? -1 : 1;
  const int order = magnitude == 0 ? 0 : magnitude < 0 ? -1 : 1;
  return a.negative ? -order : order;
}

Result<Decimal> parse_decimal(std::string_view number) {
  const std::size_t end = number_end(number, 0);
  if (end == 0 || end != number.size()) return invalid_request({}, "not a JSON number");
  Decimal value;
  std::size_t at = 0;
  if (number[at] == '-') {
    value.negative = true;
    ++at;
  }
  constexpr std::int64_t kExponentMax = 1'000'000'000;
  std::int64_t fraction_digits = 0;
  for (bool fraction = false; at < end && number[at] != 'e' && number[at] != 'E'; ++at) {
    if (number[at] == '.') {
      fraction = true;
      continue;
    }
    if (fraction) ++fraction_digits;
    if (number[at] != '0' || !value.digits.empty()) value.digits += number[at];
  }
  std::int64_t written = 0;
  if (at < end) {
    ++at;
    const bool minus = number[at] == '-';
    if (!is_digit(number[at])) ++at;
    for (; at < end; ++at) {
      if (written <= 4 * kExponentMax) written = written * 10 + (number[at] - '0');
    }
    if (minus) written = -written;
  }
  const std::size_t last = value.digits.find_last_not_of('0');
  if (last == std::string::npos) return Decimal{};
  value.exponent =
      written - fraction_digits + static_cast<std::int64_t>(value.digits.size() - last - 1);
  value.digits.resize(last + 1);
  if (value.exponent > kExponentMax || value.exponent < -kExponentMax) {
    return invalid_request({}, "the number's exponent is out of range");
  }
  return value;
}

std::optional<std::int64_t> small_integer(const Decimal& value) {
  constexpr std::int64_t kDigitsMax = 18;
  if (value.exponent < 0 || value.place() > kDigitsMax) return std::nullopt;
  std::int64_t number = 0;
  for (const char digit : value.digits) number = number * 10 + (digit - '0');
  for (std::int64_t i = 0; i < value.exponent; ++i) number *= 10;
  return value.negative ? -number : number;
}

std::string to_text(const Decimal& value) {
  if (value.digits.empty()) return "0";
  std::string text = value.negative ? "-" : "";
  const auto size = static_cast<std::int64_t>(value.digits.size());
  const std::int64_t place = value.place();
  constexpr std::int64_t kZerosMax = 20;  // more of them are hard to count
  if (value.exponent >= 0 && value.exponent <= kZerosMax) {
    return text + value.digits + std::string(static_cast<std::size_t>(value.exponent), '0');
  }
  if (value.exponent < 0 && place > 0) {
    const auto whole = static_cast<std::size_t>(place);
    return text + value.digits.substr(0, whole) + "." + value.digits.substr(whole);
  }
  if (value.exponent < 0 && place > -kZerosMax) {
    return text + "0." + std::string(static_cast<std::size_t>(-place), '0') + value.digits;
  }
  text += value.digits[0];
  if (size > 1) text.append(".").append(value.digits, 1);
  return text + "e" + std::to_string(place - 1);
}

}  // namespace zerohop

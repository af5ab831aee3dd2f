#include "document_styles.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/utf8.h"

namespace zerohop {
namespace {

using Type = JsonNode::Type;

struct Spelling {
  std::string_view comma = ",";
  std::string_view colon = ":";
  std::string_view line_end = {};  // empty: all in one line
  std::string_view indent = {};
  char32_t escape_from = 0x110000;
};

void append_unit(std::string& out, unsigned unit, const char* format) {
  char buffer[8];
  std::snprintf(buffer, sizeof buffer, format, unit);
  out += buffer;
}

std::string quoted(const std::string& text, const Spelling& spelling) {
  std::string out = "\"";
  const char* format = spelling.escape_from == 0 ? "\\u%04X" : "\\u%04x";
  for (const char32_t letter : utf8_decode(text)) {
    if (letter < spelling.escape_from) {
      constexpr std::u32string_view kShort = U"\"\\\b\f\n\r\t";
      const std::size_t place = kShort.find(letter);
      if (place != std::u32string_view::npos) {
        out += {'\\', "\"\\bfnrt"[place]};
      } else if (letter < 0x20) {
        append_unit(out, letter, format);
      } else {
        utf8_append(out, letter);
      }
    } else if (letter < 0x10000) {
      append_unit(out, letter, format);
    } else {
      append_unit(out, 0xd800 + ((letter - 0x10000) >> 10), format);
      append_unit(out, 0xdc00 + ((letter - 0x10000) & 0x3ff), format);
    }
  }
  return out + "\"";
}

class Writer {
 public:
  explicit Writer(const Spelling& spelling) : spelling_(spelling) {}

  std::string write(const JsonNode& node) {
    value(node);
    return std::move(out_);
  }

 private:
  void value(const JsonNode& node) {
    switch (node.type) {
      case Type::kNull: out_ += "null"; return;
      case Type::kFalse: out_ += "false"; return;
      case Type::kTrue: out_ += "true"; return;
      case Type::kNumber: out_ += node.text; return;
      case Type::kString: out_ += quoted(node.text, spelling_); return;
      case Type::kArray:
        return container("[]", node.items.size(), [&](std::size_t i) { value(node.items[i]); });
      case Type::kObject: break;
    }
    container("{}", node.members.size(), [&](std::size_t i) {
      out_ += quoted(node.members[i].first, spelling_);
      out_ += spelling_.colon;
      value(node.members[i].second);
    });
  }

  template <typename Part>
  void container(std::string_view brackets, std::size_t parts, const Part& part) {
    out_ += brackets[0];
    ++depth_;
    for (std::size_t i = 0; i < parts; ++i) {
      if (i > 0) out_ += spelling_.comma;
      new_line();
      part(i);
    }
    --depth_;
    if (parts > 0) new_line();
    out_ += brackets[1];
  }

  void new_line() {
    if (spelling_.line_end.empty()) return;
    out_ += spelling_.line_end;
    for (int i = 0; i < depth_; ++i) out_ += spelling_.indent;
  }

  const Spelling& spelling_;
  std::string out_;
  int depth_ = 0;
};

std::string with_trailing_zero(const std::string& number) {
  if (number.find_first_of("eE") != std::string::npos) return number;
  return number + (number.find('.') == std::string::npos ? ".0" : "0");
}

std::string scientific(const std::string& number) {
  const auto value = parse_decimal(number);
  constexpr std::size_t kDigitsMax = 7;
  if (!value.ok() || value->digits.empty() || value->digits.size() > kDigitsMax) return number;
  const std::int64_t exponent = value->place() - 1;
  if (exponent < -999 || exponent > 999) return number;
  std::string text = value->negative ? "-" : "";
  text += value->digits[0];
  if (value->digits.size() > 1) text += "." + value->digits.substr(1);
  return text + "e" + std::to_string(exponent);
}

JsonNode respelt(JsonNode node, std::string (*number)(const std::string&)) {
  if (node.is(Type::kNumber)) node.text = number(node.text);
  for (JsonNode& item : node.items) item = respelt(std::move(item), number);
  for (auto& [name, member] : node.members) member = respelt(std::move(member), number);
  return node;
}

}  // namespace

std::vector<StyledText> styled_texts(const JsonNode& value) {
  std::vector<StyledText> texts;
  const auto add = [&](DocumentStyle style, const JsonNode& node, const Spelling& spelling) {
    std::string text = Writer(spelling).write(node);
    const bool known = std::any_of(texts.begin(), texts.end(),
                                   [&](const StyledText& each) { return each.text == text; });
    if (!known) texts.push_back({style, std::move(text)});
  };
  add(DocumentStyle::kCompact, value, {});
  add(DocumentStyle::kSpaced, value, {", ", ": "});
  add(DocumentStyle::kIndented, value, {",", ": ", "\n", "  "});
  add(DocumentStyle::kTabbed, value, {",", ":", "\r\n", "\t"});
  add(DocumentStyle::kEscaped, value, {",", ":", {}, {}, 0x80});
  add(DocumentStyle::kAllEscaped, value, {",", ":", {}, {}, 0});
  add(DocumentStyle::kTrailingZero, respelt(value, with_trailing_zero), {});
  add(DocumentStyle::kScientific, respelt(value, scientific), {});
  return texts;
}

std::string_view style_name(DocumentStyle style) {
  constexpr std::array<std::string_view, 8> kNames{"compact",       "spaced",    "indented",
                                                   "tabbed",        "escaped",   "all escaped",
                                                   "trailing zero", "scientific"};
  return kNames[static_cast<std::size_t>(style)];
}

}  // namespace zerohop

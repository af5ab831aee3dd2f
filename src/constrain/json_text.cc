#include "constrain/json_text.h"

#include <array>
#include <charconv>
#include <cstdint>

#include "base/utf8.h"
#include "constrain/json_prefix.h"

namespace zerohop {
namespace {

constexpr std::string_view kSpaces = " \n\r\t";

std::string_view without_spaces_in_front(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpaces);
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

// The four digits at the front of `json`; nothing when there are fewer.
std::optional<std::uint32_t> hex_code(std::string_view json) {
  if (json.size() < 4) return std::nullopt;
  std::uint32_t code = 0;
  const auto result = std::from_chars(json.data(), json.data() + 4, code, 16);
  if (result.ptr != json.data() + 4) return std::nullopt;
  return code;
}

// Reads the \u escape at the front of `json`, both halves of a pair; says how long it is, 0 when it
// is not all there.
std::size_t read_code(std::string_view json, std::string& text) {
  const auto code = hex_code(json.substr(2));
  if (!code) return 0;
  if (*code < 0xd800 || *code > 0xdbff) {
    utf8_append(text, *code);
    return 6;
  }
  if (json.size() < 12) return 0;
  const auto low = hex_code(json.substr(8));
  if (!low) return 0;
  utf8_append(text, 0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00));
  return 12;
}

char escaped_meaning(char letter) {
  switch (letter) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return letter;
  }
}

// The value at the front of `text`; empty when there is none.
std::string_view first_value(std::string_view text) {
  JsonPrefix reader;
  const std::size_t size = reader.feed(text);
  return reader.complete() ? text.substr(0, size) : std::string_view();
}

}  // namespace

void append_json_escaped(std::string& json, std::string_view text) {
  constexpr std::string_view kHexDigits = "0123456789abcdef";
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    if (byte == '"' || byte == '\\') {
      json.append({'\\', byte});
    } else if (code >= 0x20) {
      json.push_back(byte);
    } else if (byte == '\n') {
      json += "\\n";
    } else if (byte == '\t') {
      json += "\\t";
    } else if (byte == '\r') {
      json += "\\r";
    } else {
      json += "\\u00";
      json.append({kHexDigits[code >> 4], kHexDigits[code & 15]});
    }
  }
}

std::string json_quoted(std::string_view text) {
  std::string json = "\"";
  append_json_escaped(json, text);
  json += '"';
  return json;
}

std::string json_unquoted(std::string_view json) {
  std::string text;
  std::size_t at = 1;
  while (at < json.size() && json[at] != '"') {
    if (json[at] != '\\') {
      text.push_back(json[at++]);
      continue;
    }
    if (at + 1 >= json.size()) break;
    if (json[at + 1] != 'u') {
      text.push_back(escaped_meaning(json[at + 1]));
      at += 2;
      continue;
    }
    const std::size_t size = read_code(json.substr(at), text);
    if (size == 0) break;
    at += size;
  }
  return text;
}

std::optional<std::vector<JsonMember>> json_members(std::string_view object) {
  object = without_spaces_in_front(object);
  JsonPrefix reader({.root = JsonRoot::kObject});
  if (reader.feed(object) == 0 || !reader.complete()) return std::nullopt;
  std::vector<JsonMember> members;
  std::string_view rest = without_spaces_in_front(object.substr(1));
  while (rest.front() != '}') {
    if (rest.front() == ',') rest = without_spaces_in_front(rest.substr(1));
    const std::string_view key = first_value(rest);
    rest = without_spaces_in_front(rest.substr(key.size()));
    rest = without_spaces_in_front(rest.substr(1));  // the colon
    const std::string_view value = first_value(rest);
    members.push_back({json_unquoted(key), value});
    rest = without_spaces_in_front(rest.substr(value.size()));
  }
  return members;
}

bool is_json(std::string_view text) {
  text = without_spaces_in_front(text);
  JsonPrefix reader;
  const std::size_t size = reader.feed(text);
  return reader.complete() && without_spaces_in_front(text.substr(size)).empty();
}

}  // namespace zerohop

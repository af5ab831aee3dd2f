#include "api/json_writer.h"

#include <array>
#include <charconv>
#include <cstddef>

#include "base/utf8.h"

namespace zerohop {
namespace {

// 0: copy as it is; 'u': \u00XX; else the letter after the backslash.
constexpr std::array<char, 256> make_escapes() {
  std::array<char, 256> table{};
  for (std::size_t byte = 0; byte < 0x20; ++byte) table[byte] = 'u';
  table['\b'] = 'b';
  table['\f'] = 'f';
  table['\n'] = 'n';
  table['\r'] = 'r';
  table['\t'] = 't';
  table['"'] = '"';
  table['\\'] = '\\';
  return table;
}
constexpr std::array<char, 256> kEscapes = make_escapes();

void append_escape(unsigned char byte, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const char letter = kEscapes[byte];
  out.push_back('\\');
  out.push_back(letter);
  if (letter != 'u') return;
  out.append("00");
  out.push_back(kHex[byte >> 4]);
  out.push_back(kHex[byte & 15]);
}

}  // namespace

void append_json_string(std::string_view text, std::string& out) {
  out.push_back('"');
  std::size_t copied = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (kEscapes[byte] == 0) continue;
    out.append(text.substr(copied, i - copied));
    append_escape(byte, out);
    copied = i + 1;
  }
  out.append(text.substr(copied));
  out.push_back('"');
}

void append_json_untrusted(std::string_view text, std::string& out) {
  if (utf8_is_valid(text)) return append_json_string(text, out);
  append_json_string(utf8_replace_invalid(text), out);
}

void append_json_integer(std::int64_t number, std::string& out) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

}  // namespace zerohop

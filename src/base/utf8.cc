#include "base/utf8.h"

#include <algorithm>

namespace zerohop {
namespace {

// Table 3-7 of the Unicode standard: the second byte has a narrower range after E0, ED, F0 and F4.
struct Lead {
  std::size_t length;  // 0: not a lead byte
  unsigned char second_low;
  unsigned char second_high;
};

Lead classify(unsigned char byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xc2) return {0, 0, 0};
  if (byte < 0xe0) return {2, 0x80, 0xbf};
  if (byte == 0xe0) return {3, 0xa0, 0xbf};
  if (byte == 0xed) return {3, 0x80, 0x9f};
  if (byte < 0xf0) return {3, 0x80, 0xbf};
  if (byte == 0xf0) return {4, 0x90, 0xbf};
  if (byte < 0xf4) return {4, 0x80, 0xbf};
  if (byte == 0xf4) return {4, 0x80, 0x8f};
  return {0, 0, 0};
}

struct Scan {
  std::size_t matched;  // bytes that fit the pattern, at least 1 for a lead byte
  bool complete;
};

// How much of one character stands at the start of `text` (not empty).
Scan scan_character(std::string_view text) {
  const Lead lead = classify(static_cast<unsigned char>(text[0]));
  if (lead.length == 0) return {0, false};
  std::size_t matched = 1;
  while (matched < lead.length && matched < text.size()) {
    const auto byte = static_cast<unsigned char>(text[matched]);
    const unsigned char low = matched == 1 ? lead.second_low : 0x80;
    const unsigned char high = matched == 1 ? lead.second_high : 0xbf;
    if (byte < low || byte > high) return {matched, false};
    ++matched;
  }
  return {matched, matched == lead.length};
}

}  // namespace

std::size_t utf8_valid_prefix(std::string_view text) {
  std::size_t position = 0;
  while (position < text.size()) {
    if (static_cast<unsigned char>(text[position]) < 0x80) {
      ++position;
      continue;
    }
    const Scan scan = scan_character(text.substr(position));
    if (!scan.complete) return position;
    position += scan.matched;
  }
  return position;
}

std::size_t utf8_incomplete_suffix(std::string_view text) {
  const std::size_t longest = text.size() < 3 ? text.size() : 3;
  for (std::size_t length = 1; length <= longest; ++length) {
    const std::string_view tail = text.substr(text.size() - length);
    const auto byte = static_cast<unsigned char>(tail[0]);
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;  // a continuation byte: look further back for its lead
    const Scan scan = scan_character(tail);
    return !scan.complete && scan.matched == length ? length : 0;
  }
  return 0;
}

std::string utf8_replace_invalid(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t valid = utf8_valid_prefix(text);
    out.append(text.substr(0, valid));
    text.remove_prefix(valid);
    if (text.empty()) break;
    const Scan scan = scan_character(text);
    out.append("\xef\xbf\xbd");
    text.remove_prefix(scan.matched == 0 ? 1 : scan.matched);
  }
  return out;
}

void utf8_append(std::string& text, char32_t code_point) {
  const auto put = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  const auto tail = [&](unsigned shift) { put(0x80 | ((code_point >> shift) & 0x3f)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xc0 | (code_point >> 6));
    tail(0);
  } else if (code_point < 0x10000) {
    put(0xe0 | (code_point >> 12));
    tail(6);
    tail(0);
  } else {
    put(0xf0 | (code_point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

char32_t utf8_next(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at++]);
  if (lead < 0x80) return lead;
  const unsigned tails = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
  char32_t code_point = lead & (0x3fu >> tails);
  for (unsigned i = 0; i < tails && at < text.size(); ++i) {
    code_point = code_point << 6 | (static_cast<unsigned char>(text[at++]) & 0x3f);
  }
  return code_point;
}

std::u32string utf8_decode(std::string_view text) {
  std::u32string characters;
  for (std::size_t at = 0; at < text.size();) characters.push_back(utf8_next(text, at));
  return characters;
}

std::size_t utf8_characters(std::string_view text) {
  const auto begins = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; };
  return static_cast<std::size_t>(std::ranges::count_if(text, begins));
}

}  // namespace zerohop

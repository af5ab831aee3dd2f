#include "base/utf8.h"

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

}  // namespace zerohop

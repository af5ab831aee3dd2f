// Text on its way to a terminal. What clients and servers chose must not move a cursor, set a title
// or fill a clipboard. Pure; any thread.
#pragma once

#include <string>

namespace zerohop {

/// `text` with control characters, line ends apart, replaced by '?': C0, DEL, and C1 as UTF-8.
inline std::string terminal_text(std::string text) {
  const auto byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool c1 = byte(i) == 0xc2 && i + 1 < text.size() && byte(i + 1) < 0xa0;
    if (c1) text.erase(i + 1, 1);
    if (c1 || byte(i) == 0x7f || (byte(i) < 0x20 && text[i] != '\n')) text[i] = '?';
  }
  return text;
}

}  // namespace zerohop

// Numbers inside of texts for people. Pure; any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <string>

namespace zerohop {

/// As std::printf() would write it, at most 199 bytes.
template <class... Values>
std::string print_text(const char* format, Values... values) {
  std::array<char, 200> text{};
  const int size = std::snprintf(text.data(), text.size(), format, values...);
  return {text.data(), std::min(text.size() - 1, static_cast<std::size_t>(std::max(size, 0)))};
}

}  // namespace zerohop

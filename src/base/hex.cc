#include "base/hex.h"

#include <array>
#include <string_view>

namespace zerohop {

std::string hex_of(std::span<const unsigned char> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits;
  digits.reserve(2 * bytes.size());
  for (const unsigned char byte : bytes) {
    digits.push_back(kDigits[byte >> 4]);
    digits.push_back(kDigits[byte & 15]);
  }
  return digits;
}

std::string hex_of_number(std::uint64_t number) {
  std::array<unsigned char, sizeof number> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<unsigned char>(number >> 8 * (bytes.size() - 1 - i));
  }
  return hex_of(bytes);
}

}  // namespace zerohop

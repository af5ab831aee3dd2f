// Hexadecimal digits. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace zerohop {

/// The value of a hexadecimal digit, in lower or upper case; -1: `character` is none. It may be a
/// byte of UTF-8 too: those that are no ASCII are no digits, whatever the sign of char.
constexpr int hex_digit_value(char32_t character) {
  if (character >= U'0' && character <= U'9') return static_cast<int>(character - U'0');
  if (character >= U'a' && character <= U'f') return static_cast<int>(character - U'a') + 10;
  if (character >= U'A' && character <= U'F') return static_cast<int>(character - U'A') + 10;
  return -1;
}

/// Two lower-case digits for each byte.
std::string hex_of(std::span<const unsigned char> bytes);

/// Sixteen lower-case digits, the highest first.
std::string hex_of_number(std::uint64_t number);

}  // namespace zerohop

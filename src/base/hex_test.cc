#include "base/hex.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string_view>

namespace zerohop {
namespace {

TEST(HexDigitValue, KnowsTheDigitsOfBothCasesAndNoOthers) {
  constexpr std::string_view kLower = "0123456789abcdef";
  constexpr std::string_view kUpper = "0123456789ABCDEF";
  for (char32_t character = 0; character < 0x10000; ++character) {
    int expected = -1;
    for (int value = 0; value < 16; ++value) {
      const auto place = static_cast<std::size_t>(value);
      if (character == static_cast<unsigned char>(kLower[place])) expected = value;
      if (character == static_cast<unsigned char>(kUpper[place])) expected = value;
    }
    ASSERT_EQ(hex_digit_value(character), expected) << static_cast<unsigned>(character);
  }
}

TEST(HexDigitValue, TakesBytesThatAreNoCharacters) {
  EXPECT_EQ(hex_digit_value('\xff'), -1);
  EXPECT_EQ(hex_digit_value('\xb0'), -1);  // '0' with its highest bit set
}

TEST(HexOf, WritesTwoLowerCaseDigitsForEachByte) {
  constexpr std::array<unsigned char, 4> kBytes{0x00, 0x0f, 0xa0, 0xff};
  EXPECT_EQ(hex_of(kBytes), "000fa0ff");
  EXPECT_EQ(hex_of({}), "");
}

TEST(Hex, WritesANumberWithAllItsDigits) {
  EXPECT_EQ(hex_of_number(0), "0000000000000000");
  EXPECT_EQ(hex_of_number(0x0892e8b79bf0c1c9), "0892e8b79bf0c1c9");
}

}  // namespace
}  // namespace zerohop

#include "base/utf8.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace zerohop {
namespace {

std::string encode(std::uint32_t point) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((point >> shift) & 0x3f)); };
  if (point < 0x80) return {static_cast<char>(point)};
  if (point < 0x800) return {static_cast<char>(0xc0 | (point >> 6)), tail(0)};
  if (point < 0x10000) return {static_cast<char>(0xe0 | (point >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | (point >> 18)), tail(12), tail(6), tail(0)};
}

// One whole character by RFC 3629: decoded by arithmetic, in range, and encoded back to itself.
bool is_character(std::string_view text) {
  if (text.empty() || text.size() > 4) return false;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  constexpr std::array<std::uint32_t, 5> kLeadMask{0, 0x7f, 0x1f, 0x0f, 0x07};
  std::uint32_t point = byte(0) & kLeadMask[text.size()];
  for (std::size_t i = 1; i < text.size(); ++i) point = (point << 6) | (byte(i) & 0x3f);
  return point <= 0x10ffff && (point < 0xd800 || point > 0xdfff) && encode(point) == text;
}

// Whether some bytes make `text` a character; the ranges of table 3-7 have these borders.
bool begins_character(const std::string& text) {
  if (text.empty() || text.size() > 3) return false;
  for (const char next : {'\x80', '\x8f', '\x90', '\x9f', '\xa0', '\xbf'}) {
    if (is_character(text + next) || begins_character(text + next)) return true;
  }
  return false;
}

struct Reference {
  std::string replaced;
  std::size_t valid_prefix = 0;
  std::size_t incomplete = 0;
};

// What the three functions must say, one character after the other.
Reference reference(const std::string& text) {
  Reference result{"", text.size(), 0};
  std::size_t position = 0;
  while (position < text.size()) {
    std::size_t length = 0;
    for (std::size_t n = 1; n <= 4 && position + n <= text.size(); ++n) {
      if (is_character(text.substr(position, n))) length = n;
    }
    if (length > 0) {
      result.replaced += text.substr(position, length);
      position += length;
      continue;
    }
    result.valid_prefix = std::min(result.valid_prefix, position);
    std::size_t broken = 1;
    for (std::size_t n = 1; n <= 3 && position + n <= text.size(); ++n) {
      if (!begins_character(text.substr(position, n))) continue;
      broken = n;
      if (position + n == text.size()) result.incomplete = n;
    }
    result.replaced += "\xef\xbf\xbd";
    position += broken;
  }
  return result;
}

void compare(const std::string& text) {
  const Reference expected = reference(text);
  ASSERT_EQ(utf8_valid_prefix(text), expected.valid_prefix) << testing::PrintToString(text);
  ASSERT_EQ(utf8_incomplete_suffix(text), expected.incomplete) << testing::PrintToString(text);
  ASSERT_EQ(utf8_replace_invalid(text), expected.replaced) << testing::PrintToString(text);
}

TEST(Utf8, AcceptsEveryCharacterAndNoSurrogate) {
  for (std::uint32_t point = 0; point <= 0x10ffff; ++point) {
    const bool surrogate = point >= 0xd800 && point <= 0xdfff;
    ASSERT_EQ(utf8_is_valid(encode(point)), !surrogate) << point;
  }
  EXPECT_FALSE(utf8_is_valid(encode(0x110000)));
}

TEST(Utf8, AgreesWithTheReferenceOnAllPairsOfBytes) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      compare({static_cast<char>(first), static_cast<char>(second)});
    }
  }
}

TEST(Utf8, AgreesWithTheReferenceOnAllSequencesOfBorderBytes) {
  constexpr std::string_view kBytes =
      "a\x7f\x80\x8f\x90\x9f\xa0\xbf\xc1\xc2\xdf\xe0\xe1\xed\xee\xef\xf0\xf1\xf4\xf5";
  for (const char a : kBytes) {
    for (const char b : kBytes) {
      for (const char c : kBytes) {
        compare({a, b, c});
        for (const char d : kBytes) compare({a, b, c, d});
      }
    }
  }
}

TEST(Utf8, ReplacesLikeTheExampleOfTheUnicodeStandard) {
  // Table 3-11, "U+FFFD for truncated sequences".
  EXPECT_EQ(utf8_replace_invalid("\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41"),
            "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\x41");
}

TEST(Utf8, ValidTextStaysAsItIs) {
  const std::string text = "gr\xc3\xbc\xc3\x9f \xe4\xbd\xa0\xe5\xa5\xbd \xf0\x9f\x98\x80";
  EXPECT_EQ(utf8_replace_invalid(text), text);
  EXPECT_EQ(utf8_valid_prefix(text), text.size());
  EXPECT_EQ(utf8_incomplete_suffix(text), 0u);
}

TEST(Utf8, TakesEmptyText) {
  EXPECT_TRUE(utf8_is_valid(""));
  EXPECT_EQ(utf8_incomplete_suffix(""), 0u);
  EXPECT_EQ(utf8_replace_invalid(""), "");
}

TEST(Utf8, EveryCharacterIsWrittenAndReadBack) {
  std::string text;
  std::u32string characters;
  std::size_t at = 0;
  for (char32_t point = 0; point <= 0x10ffff; ++point) {
    if (point >= 0xd800 && point <= 0xdfff) continue;
    utf8_append(text, point);
    ASSERT_EQ(text.substr(at), encode(point)) << static_cast<std::uint32_t>(point);
    ASSERT_EQ(utf8_next(text, at), point);
    ASSERT_EQ(at, text.size());
    characters.push_back(point);
  }
  EXPECT_EQ(utf8_decode(text), characters);
  EXPECT_EQ(utf8_characters(text), characters.size());
}

TEST(Utf8, ReadsCharactersOfAllLengths) {
  const std::string text = "a\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80";
  EXPECT_EQ(utf8_decode(text), U"a\u00e9\u4e2d\U0001f600");
  EXPECT_EQ(utf8_characters(text), 4u);
  EXPECT_EQ(utf8_decode(""), U"");
  EXPECT_EQ(utf8_characters(""), 0u);
}

TEST(Utf8, ReadingStopsAtTheEndOfACutText) {
  for (const std::string_view cut : {"\xc3", "\xe4\xb8", "\xf0\x9f\x98"}) {
    std::size_t at = 0;
    utf8_next(cut, at);
    EXPECT_EQ(at, cut.size());
  }
}

}  // namespace
}  // namespace zerohop

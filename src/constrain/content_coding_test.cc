#include "constrain/content_coding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/utf8.h"
#include "constrain/regex_syntax.h"

namespace zerohop {
namespace {

std::shared_ptr<ContentAutomaton> of_pattern(std::string_view pattern) {
  RegexPool pool;
  const auto term = parse_whole_pattern(pool, pattern);
  EXPECT_TRUE(term.ok());
  auto made = ContentAutomaton::make(pool, *term, {}, {});
  EXPECT_TRUE(made.ok());
  return std::move(made).value();
}

std::string hex_escape(std::uint32_t unit, std::string_view digits) {
  std::string text = "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) text += digits[(unit >> shift) & 15];
  return text;
}

/// Every way of writing `letter`; of hexadecimal digits all lower and all upper case.
std::vector<std::string> spellings(char32_t letter, TextCoding coding) {
  const std::string raw = encode_content(std::u32string(1, letter), TextCoding::kUtf8);
  if (coding == TextCoding::kUtf8) return {raw};
  const bool needs_escape = letter < 0x20 || letter == U'"' || letter == U'\\';
  const std::map<char32_t, std::string> brief = {{U'"', "\\\""}, {U'\\', "\\\\"}, {U'\b', "\\b"},
                                                 {U'\f', "\\f"}, {U'\n', "\\n"},  {U'\r', "\\r"},
                                                 {U'\t', "\\t"}, {U'/', "\\/"}};
  std::vector<std::string> found;
  if (!needs_escape) found.push_back(raw);
  const auto short_one = brief.find(letter);
  const bool any = coding == TextCoding::kJsonAny;
  const bool has_short = short_one != brief.end();
  if (has_short && (any || needs_escape)) found.push_back(short_one->second);
  if (any || letter >= 0x80 || (needs_escape && !has_short)) {
    for (const std::string_view digits : {"0123456789abcdef", "0123456789ABCDEF"}) {
      if (letter < 0x10000) {
        found.push_back(hex_escape(letter, digits));
      } else {
        found.push_back(hex_escape(0xd800 + ((letter - 0x10000) >> 10), digits) +
                        hex_escape(0xdc00 + ((letter - 0x10000) & 0x3ff), digits));
      }
    }
  }
  return found;
}

bool mixed_case(std::string_view text) {
  const bool lower = text.find_first_of("abcdef") != std::string_view::npos;
  const bool upper = text.find_first_of("ABCDEF") != std::string_view::npos;
  return lower && upper;
}

constexpr std::u32string_view kLetters =
    U"am/\"\\\n\x01\x7f\x80\u00e9\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0001d54f\U0010ffff";

class ContentCoding : public testing::TestWithParam<TextCoding> {};

// All bytes at all places: a text is read exactly as far as it is the beginning of a spelling of
// some word.
TEST_P(ContentCoding, ReadsTheBeginningsOfAllSpellingsAndNothingElse) {
  for (std::size_t left_out = 0; left_out < kLetters.size(); ++left_out) {
    std::u32string word(kLetters);
    word.erase(left_out, 1);
    RegexPool pool;
    std::vector<RegexTerm> letters;
    for (const char32_t letter : word) letters.push_back(pool.text(std::u32string(1, letter)));
    const RegexTerm term = pool.concat(pool.either_of(letters), pool.text(U"z"));
    const auto automaton = *ContentAutomaton::make(pool, term, {}, {});
    ContentDecoder decoder(*automaton, GetParam());

    std::set<std::string> begins;
    std::set<std::string> whole;
    for (const char32_t letter : word) {
      for (const std::string& spelled : spellings(letter, GetParam())) {
        for (const std::string& end : spellings(U'z', GetParam())) {
          whole.insert(spelled + end);
          for (std::size_t size = 0; size <= (spelled + end).size(); ++size) {
            begins.insert((spelled + end).substr(0, size));
          }
        }
      }
    }
    std::vector<std::pair<ContentPlace, std::string>> open{{decoder.start(), ""}};
    std::size_t reached = 0;
    while (!open.empty()) {
      const auto [place, text] = open.back();
      open.pop_back();
      ++reached;
      ASSERT_EQ(decoder.accepts(place), whole.contains(text)) << text;
      const std::string end = decoder.shortest_end(place);
      ASSERT_EQ(end.empty(), decoder.accepts(place));
      ContentPlace followed = place;
      for (std::size_t i = 0; i < end.size(); ++i) {
        ASSERT_TRUE(decoder.step(followed, static_cast<unsigned char>(end[i])));
        ASSERT_EQ(decoder.shortest_end(followed), end.substr(i + 1)) << text << "|" << end;
      }
      ASSERT_TRUE(decoder.accepts(followed));
      for (int byte = 0; byte < 256; ++byte) {
        ContentPlace next = place;
        const std::string longer = text + static_cast<char>(byte);
        const bool alive = decoder.step(next, static_cast<unsigned char>(byte));
        ASSERT_TRUE(alive || next == place);
        if (mixed_case(longer)) continue;
        ASSERT_EQ(alive, begins.contains(longer)) << longer << " " << left_out;
        if (alive) open.emplace_back(next, longer);
      }
    }
    EXPECT_EQ(reached, begins.size() - static_cast<std::size_t>(std::count_if(
                                           begins.begin(), begins.end(), mixed_case)));
  }
}

INSTANTIATE_TEST_SUITE_P(All, ContentCoding,
                         testing::Values(TextCoding::kUtf8, TextCoding::kJsonCanonical,
                                         TextCoding::kJsonAny));

bool reads(TextCoding coding, std::string_view pattern, std::string_view text) {
  const auto automaton = of_pattern(pattern);
  ContentDecoder decoder(*automaton, coding);
  ContentPlace place = decoder.start();
  for (const char byte : text) {
    if (!decoder.step(place, static_cast<unsigned char>(byte))) return false;
  }
  return decoder.accepts(place);
}

TEST(ContentCodingUtf8, IsStrict) {
  EXPECT_TRUE(reads(TextCoding::kUtf8, "[^]*", "a\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80"));
  EXPECT_FALSE(reads(TextCoding::kUtf8, "[^]*", "\xc0\xaf"));
  EXPECT_FALSE(reads(TextCoding::kUtf8, "[^]*", "\xe0\x80\xaf"));
  EXPECT_FALSE(reads(TextCoding::kUtf8, "[^]*", "\xf0\x80\x80\xaf"));
  EXPECT_FALSE(reads(TextCoding::kUtf8, "[^]*", "\xed\xa0\x80"));
  EXPECT_FALSE(reads(TextCoding::kUtf8, "[^]*", "\xf4\x90\x80\x80"));
  EXPECT_FALSE(reads(TextCoding::kUtf8, "[^]*", "\x80"));
}

TEST(ContentCodingUtf8, AgreesWithTheValidatorOnAllShortTexts) {
  const auto automaton = of_pattern("[^]*");
  ContentDecoder decoder(*automaton, TextCoding::kUtf8);
  for (unsigned value = 0; value < 1u << 24; value += 7) {
    std::string text;
    for (int shift = 16; shift >= 0; shift -= 8) {
      text.push_back(static_cast<char>((value >> shift) & 0xff));
    }
    ContentPlace place = decoder.start();
    const bool alive = std::ranges::all_of(
        text, [&](char byte) { return decoder.step(place, static_cast<unsigned char>(byte)); });
    ASSERT_EQ(alive && decoder.accepts(place), utf8_is_valid(text)) << value;
  }
}

TEST(ContentCodingJson, EscapesCountAsOneCharacter) {
  for (const std::string_view text : {"\\n", "\\u00e9", "\\uD83D\\uDE00", "\xc3\xa9", "x"}) {
    EXPECT_TRUE(reads(TextCoding::kJsonCanonical, "[^]", text)) << text;
    EXPECT_FALSE(reads(TextCoding::kJsonCanonical, "[^]{2}", text)) << text;
  }
  EXPECT_FALSE(reads(TextCoding::kJsonCanonical, "[^]", "\\u0061"));
  EXPECT_TRUE(reads(TextCoding::kJsonAny, "[^]", "\\u0061"));
  EXPECT_FALSE(reads(TextCoding::kJsonAny, "[^]*", "\\uD83D"));
  EXPECT_FALSE(reads(TextCoding::kJsonAny, "[^]*", "\\uDE00"));
  EXPECT_FALSE(reads(TextCoding::kJsonAny, "[^]*", "\\'"));
  EXPECT_FALSE(reads(TextCoding::kJsonAny, "[^]*", "\t"));
  EXPECT_FALSE(reads(TextCoding::kJsonAny, "[^]*", "\""));
}

TEST(ContentCodingJson, WordsAreWrittenCanonically) {
  EXPECT_EQ(encode_content(U"a\"\\/\n\x01\u00e9", TextCoding::kJsonCanonical),
            "a\\\"\\\\/\\n\\u0001\xc3\xa9");
  EXPECT_EQ(encode_content(U"a\"\n", TextCoding::kUtf8), "a\"\n");
}

}  // namespace
}  // namespace zerohop

#include "api/json_writer.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <limits>
#include <string>

namespace zerohop {
namespace {

std::string as_json(std::string_view text) {
  std::string out;
  append_json_string(text, out);
  return out;
}

TEST(JsonWriter, CopiesPlainTextBetweenQuotes) {
  EXPECT_EQ(as_json(""), R"("")");
  EXPECT_EQ(as_json("Hello, wörld 🌍"), R"("Hello, wörld 🌍")");
}

TEST(JsonWriter, EscapesQuoteBackslashAndControlCharacters) {
  EXPECT_EQ(as_json("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(as_json("\b\f\n\r\t"), R"("\b\f\n\r\t")");
  EXPECT_EQ(as_json(std::string_view("\x00\x01\x1f", 3)), R"("\u0000\u0001\u001f")");
}

TEST(JsonWriter, LeavesDeleteAndLineSeparatorsAlone) {
  EXPECT_EQ(as_json("\x7f\u2028"), "\"\x7f\u2028\"");
}

TEST(JsonWriter, EveryCharacterComesBackThroughAParser) {
  for (char first = 0; first < 0x7f; ++first) {
    const std::string text = {'x', first, first, 'y', first};
    const boost::json::value parsed = boost::json::parse(as_json(text));
    EXPECT_EQ(std::string(parsed.as_string()), text) << static_cast<int>(first);
  }
}

TEST(JsonWriter, AppendsAndKeepsWhatWasThere) {
  std::string out = "before ";
  append_json_string("x", out);
  append_json_integer(-7, out);
  EXPECT_EQ(out, "before \"x\"-7");
}

TEST(JsonWriter, ReplacesInvalidBytesOfUntrustedText) {
  std::string out;
  append_json_untrusted("a\xff\xc3", out);
  EXPECT_EQ(out, "\"a\uFFFD\uFFFD\"");
}

TEST(JsonWriter, WritesTheWholeRangeOfIntegers) {
  std::string out;
  append_json_integer(std::numeric_limits<std::int64_t>::min(), out);
  out.push_back(' ');
  append_json_integer(std::numeric_limits<std::int64_t>::max(), out);
  EXPECT_EQ(out, "-9223372036854775808 9223372036854775807");
}

}  // namespace
}  // namespace zerohop

#include "api/json_reader.h"

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>
#include <cmath>
#include <string>

#include "base/utf8.h"
#include "core/limits.h"

namespace zerohop {
namespace {

std::string failure(std::string_view text) {
  const auto parsed = parse_json(text);
  if (parsed.ok()) return "parsed";
  EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidRequest);
  EXPECT_EQ(parsed.error().field, "");
  return parsed.error().message;
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(JsonReader, ReadsAWholeDocument) {
  const auto parsed = parse_json(" {\"a\": [1, -2, 1.5, true, null, \"\\u00e9\"]} \r\n");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(boost::json::serialize(parsed->root()), R"({"a":[1,-2,1.5E0,true,null,"é"]})");
}

TEST(JsonReader, TakesTheLastOfDuplicateKeys) {
  const auto parsed = parse_json(R"({"a":1,"b":2,"a":3})");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->root().as_object().at("a").as_int64(), 3);
}

TEST(JsonReader, SkipsAByteOrderMark) {
  EXPECT_EQ(failure("\xef\xbb\xbf{}"), "parsed");
  EXPECT_EQ(failure("\xef\xbb\xbf{]"),
            "the request body is not valid JSON: syntax error at byte 4");
}

TEST(JsonReader, SaysThatABodyIsEmpty) {
  EXPECT_EQ(failure(""), "the request body is empty");
  EXPECT_EQ(failure(" \r\n\t"), "the request body is empty");
}

TEST(JsonReader, NamesTheByteOfASyntaxError) {
  EXPECT_EQ(failure(R"({"a":1,})"), "the request body is not valid JSON: syntax error at byte 7");
  EXPECT_EQ(failure("{'a':1}"), "the request body is not valid JSON: syntax error at byte 1");
  EXPECT_EQ(failure("NaN"), "the request body is not valid JSON: syntax error at byte 0");
  EXPECT_EQ(failure("[1] // no comments"),
            "the request body is not valid JSON: unexpected data after the value at byte 4");
}

TEST(JsonReader, RefusesAnythingAfterTheValue) {
  EXPECT_EQ(failure("{} {}"),
            "the request body is not valid JSON: unexpected data after the value at byte 3");
  EXPECT_EQ(failure("1 x"),
            "the request body is not valid JSON: unexpected data after the value at byte 2");
}

TEST(JsonReader, EveryTruncationIsAnError) {
  const std::string whole = R"({"a":[1,2.5e3,"x\u00e9\n",{"b":null,"c":true}],"d":"é"})";
  ASSERT_TRUE(parse_json(whole).ok());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(parse_json(std::string_view(whole).substr(0, size)).ok()) << size;
  }
  EXPECT_EQ(failure(std::string_view(whole).substr(0, 20)),
            "the request body is not valid JSON: it ends too early");
}

TEST(JsonReader, NamesTheByteWhereUtf8Breaks) {
  EXPECT_EQ(failure("{\"a\":\"\xff\"}"), "the request body is not valid UTF-8 at byte 6");
  EXPECT_EQ(failure("\"\xc3\xa9\xe2\x82\""), "the request body is not valid UTF-8 at byte 3");
  EXPECT_EQ(failure("\"\xe2\x82"), "the request body is not valid UTF-8 at byte 1");
  EXPECT_EQ(failure("\"\xc0\xaf\""), "the request body is not valid UTF-8 at byte 1");
  EXPECT_EQ(failure("\"\xed\xa0\x80\""), "the request body is not valid UTF-8 at byte 1");
  EXPECT_EQ(failure("\"\xf4\x90\x80\x80\""), "the request body is not valid UTF-8 at byte 1");
}

TEST(JsonReader, AgreesWithTheUtf8TableOnAllTwoByteTextsAndLeads) {
  for (int first = 0x80; first < 0x100; ++first) {
    for (int second = 0x20; second < 0x100; ++second) {
      if (second == '"' || second == '\\') continue;
      for (const std::string_view tail : {"", "\x80", "\xbf\x80"}) {
        std::string text = {static_cast<char>(first), static_cast<char>(second)};
        text.append(tail);
        const std::string body = '"' + text + '"';
        EXPECT_EQ(parse_json(body).ok(), utf8_is_valid(text)) << first << ' ' << second;
      }
    }
  }
}

TEST(JsonReader, BlamesTheSyntaxErrorInFrontOfBrokenText) {
  EXPECT_EQ(failure("[1,,                    \"\xff\"]"),
            "the request body is not valid JSON: syntax error at byte 3");
}

TEST(JsonReader, RefusesLoneSurrogates) {
  EXPECT_NE(failure(R"("\ud800")"), "parsed");
  EXPECT_NE(failure(R"("\udc00")"), "parsed");
  EXPECT_NE(failure(R"("\ud800\ud800")"), "parsed");
  EXPECT_EQ(failure(R"("\ud83c\udf0d")"), "parsed");
}

TEST(JsonReader, RefusesRawControlCharactersInStrings) {
  EXPECT_NE(failure("\"a\nb\""), "parsed");
  EXPECT_NE(failure(std::string_view("\"a\0b\"", 5)), "parsed");
}

TEST(JsonReader, BoundsTheDepth) {
  EXPECT_EQ(failure(nested(limits::kJsonDepthMax)), "parsed");
  EXPECT_EQ(failure(nested(limits::kJsonDepthMax + 1)),
            "the request body is nested deeper than 128 levels at byte 128");
  EXPECT_NE(failure(std::string(1'000'000, '[')), "parsed");
}

TEST(JsonReader, BoundsTheNumberOfValues) {
  std::string wide = "[0";
  for (std::size_t i = 2; i < limits::kJsonValuesMax; ++i) wide += ",0";
  EXPECT_EQ(failure(wide + "]"), "parsed");
  EXPECT_EQ(failure(wide + ",0]"), "the request body holds more than 1000000 JSON values");
}

TEST(JsonReader, CountsContainersAsValues) {
  std::string wide = "[[]";
  for (std::size_t i = 2; i <= limits::kJsonValuesMax; ++i) wide += i % 2 == 0 ? ",{}" : ",[]";
  EXPECT_EQ(failure(wide + "]"), "the request body holds more than 1000000 JSON values");
}

TEST(JsonReader, KeepsANumberTooLargeForADoubleAsInfinity) {
  const auto parsed = parse_json("[1e400,-1e400]");
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(std::isinf(parsed->root().as_array()[0].as_double()));
  EXPECT_TRUE(std::isinf(parsed->root().as_array()[1].as_double()));
}

TEST(JsonReader, OwnsItsText) {
  std::string body = R"({"key":"a text that is too long for any small-string storage"})";
  auto parsed = parse_json(body);
  ASSERT_TRUE(parsed.ok());
  const JsonDocument document = std::move(parsed).value();
  body.assign(body.size(), 'x');
  EXPECT_EQ(document.root().as_object().at("key").as_string(),
            "a text that is too long for any small-string storage");
}

}  // namespace
}  // namespace zerohop

#include "api/json_check.h"

#include <gtest/gtest.h>

#include <string>

namespace zerohop {
namespace {

std::string compact(std::string_view text) {
  std::string out;
  append_compact_json(text, out);
  return out;
}

std::string nested(std::size_t depth) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += "{\"a\":";
  return text + "1" + std::string(depth, '}');
}

TEST(JsonCheck, KnowsAnObject) {
  for (const char* text : {"{}", " {\"a\" : 1} \n", "{\"a\":12345678901234567890123.5e-7}",
                           "{\"\\ud83c\\udf0d\":[true,false,null,\"é\"]}"}) {
    EXPECT_TRUE(is_json_object(text)) << text;
  }
  for (const char* text : {"", " ", "[]", "1", "{", "{}}", "{} {}", "{\"a\":}", "{\"a\":01}",
                           "{\"a\":\"\xff\"}", "{'a':1}", "{\"a\":\"\\ud800\"}"}) {
    EXPECT_FALSE(is_json_object(text)) << text;
  }
}

TEST(JsonCheck, BoundsTheDepth) {
  EXPECT_TRUE(is_json_object(nested(512)));
  EXPECT_FALSE(is_json_object(nested(513)));
}

TEST(JsonCheck, DropsWhiteSpaceBetweenPartsOnly) {
  EXPECT_EQ(compact(" { \"a b\" : [ 1 ,\t\"x\\\" y\\\\\" ,\n 2.50 ] } "),
            "{\"a b\":[1,\"x\\\" y\\\\\",2.50]}");
}

TEST(JsonCheck, KeepsTheSpellingOfNumbers) {
  EXPECT_EQ(compact("{\"a\": 1.0, \"b\": 1E400, \"c\": -0, \"d\": 12345678901234567890123}"),
            "{\"a\":1.0,\"b\":1E400,\"c\":-0,\"d\":12345678901234567890123}");
}

}  // namespace
}  // namespace zerohop

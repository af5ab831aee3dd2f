#include "constrain/json_text.h"

#include <gtest/gtest.h>

#include <string>

#include "constrain/json_oracle.h"

namespace zerohop {
namespace {

TEST(JsonText, QuotesWhatAStringCannotHold) {
  EXPECT_EQ(json_quoted("a\"b\\c\n\t\r\x01\xc3\xa9"), "\"a\\\"b\\\\c\\n\\t\\r\\u0001\xc3\xa9\"");
}

TEST(JsonText, ReadsBackEveryByteThatItQuoted) {
  std::string text;
  for (int byte = 0; byte < 256; ++byte) text.push_back(static_cast<char>(byte));
  EXPECT_TRUE(JsonOracle::accepts(json_quoted(text)));
  EXPECT_EQ(json_unquoted(json_quoted(text)), text);
}

TEST(JsonText, ReadsEscapes) {
  EXPECT_EQ(json_unquoted("\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\\/\\b\\f\\n\\r\\t\\\"\""),
            "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80/\b\f\n\r\t\"");
}

TEST(JsonText, LeavesHalfAnEscapeOut) {
  for (const char* json :
       {"\"ab", "\"ab\\", "\"ab\\u", "\"ab\\u00e", "\"ab\\ud83d", "\"ab\\ud83d\\ude"}) {
    EXPECT_EQ(json_unquoted(json), "ab") << json;
  }
}

TEST(JsonText, ListsTheMembersOfAnObject) {
  const auto members = json_members(" { \"a\" : [1, {\"x\": 2}] ,\"b\\n\":\"c\", \"d\":-1.5 } ");
  ASSERT_TRUE(members);
  ASSERT_EQ(members->size(), 3u);
  EXPECT_EQ((*members)[0].key, "a");
  EXPECT_EQ((*members)[0].value, "[1, {\"x\": 2}]");
  EXPECT_EQ((*members)[1].key, "b\n");
  EXPECT_EQ((*members)[1].value, "\"c\"");
  EXPECT_EQ((*members)[2].value, "-1.5");
  EXPECT_TRUE(json_members("{}")->empty());
}

TEST(JsonText, HasNoMembersOfWhatIsNoObject) {
  for (const char* text : {"", "[]", "1", "{\"a\":1", "{,}", "null"}) {
    EXPECT_FALSE(json_members(text)) << text;
  }
}

TEST(JsonText, TellsJsonFromOtherText) {
  for (const char* text : {"1", " true ", "{\"a\":[]}\n", "\"x\"", "-0.5e3"}) {
    EXPECT_TRUE(is_json(text)) << text;
  }
  for (const char* text : {"", " ", "1 2", "True", "{'a':1}", "[1,]", "1.", "\"\\ud800\""}) {
    EXPECT_FALSE(is_json(text)) << text;
  }
}

}  // namespace
}  // namespace zerohop

#include "prompt/json_answer.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace zerohop {
namespace {

std::string answer(JsonRoot root, std::string_view text) {
  JsonAnswer reader(root, "");
  std::string json;
  for (const char byte : text) reader.feed({&byte, 1}, json);
  reader.close(json);
  return json;
}

TEST(JsonAnswer, BeginsAtABracketBehindWhichJsonGoesOn) {
  EXPECT_EQ(answer(JsonRoot::kObject, "a {b} {{ { \"k\": 1} c"), "{ \"k\": 1}");
  EXPECT_EQ(answer(JsonRoot::kObject, "[{\"k\": 1}]"), "{\"k\": 1}");
  EXPECT_EQ(answer(JsonRoot::kAny, "see [x] [ {\"k\": 1}] c"), "[ {\"k\": 1}]");
}

TEST(JsonAnswer, BeginsWithAScalarOnlyAtTheBeginning) {
  EXPECT_EQ(answer(JsonRoot::kAny, " \"a\""), "\"a\"");
  EXPECT_EQ(answer(JsonRoot::kAny, "```json\nnull\n```"), "null");
  EXPECT_EQ(answer(JsonRoot::kAny, "the 1"), "{}");
  EXPECT_EQ(answer(JsonRoot::kAny, "```json x 1"), "{}");
  EXPECT_EQ(answer(JsonRoot::kObject, "1"), "{}");
}

TEST(JsonAnswer, IsDoneWithTheValue) {
  JsonAnswer reader(JsonRoot::kObject, "");
  std::string json;
  reader.feed("{\"a\":{}", json);
  EXPECT_FALSE(reader.done());
  reader.feed("} x", json);
  EXPECT_TRUE(reader.done());
  EXPECT_EQ(json, "{\"a\":{}}");
}

TEST(JsonAnswer, IsDoneWhereTheValueIsBroken) {
  JsonAnswer reader(JsonRoot::kObject, "");
  std::string json;
  reader.feed("{\"a\":[1 2]}", json);
  EXPECT_TRUE(reader.done());
  EXPECT_EQ(json, "{\"a\":[1 ]}");
}

TEST(JsonAnswer, CompletesThePrefill) {
  JsonAnswer reader(JsonRoot::kObject, "{\"a\": [");
  EXPECT_TRUE(reader.begun());
  std::string json;
  reader.feed("1", json);
  reader.close(json);
  EXPECT_EQ(json, "1]}");
}

TEST(JsonAnswer, DoesNotRepeatTheBracketOfAPrefill) {
  for (const std::string_view prefill : {"{", "Here: {", "{ "}) {
    JsonAnswer reader(JsonRoot::kObject, prefill);
    std::string json;
    reader.feed("\"a\": 1}", json);
    EXPECT_EQ(json, "\"a\": 1}") << prefill;
    EXPECT_TRUE(reader.done());
    JsonAnswer cut(JsonRoot::kObject, prefill);
    std::string rest;
    cut.close(rest);
    EXPECT_EQ(rest, "}") << prefill;
  }
}

}  // namespace
}  // namespace zerohop

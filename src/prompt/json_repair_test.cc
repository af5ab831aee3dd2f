#include "prompt/json_repair.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "constrain/json_oracle.h"

namespace zerohop {
namespace {

std::string repaired(std::string_view text, JsonPrefixOptions options = {}) {
  JsonRepair repair(options);
  std::string json;
  repair.feed(text, json);
  repair.close(json);
  return json;
}

TEST(JsonRepair, LeavesValidJsonAsItIs) {
  for (const std::string_view json :
       {"{}", "{\"a\" : [1, -2.5e3 , \"\\u00e9\\\"\\ud83d\\ude00\"],\n \"b\":null }", "true", "12",
        "[[],{}]"}) {
    EXPECT_EQ(repaired(json), json);
  }
}

TEST(JsonRepair, RepairsWhatModelsGetWrong) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{\"a\":\"x\ny\t\x01\"}", "{\"a\":\"x\\ny\\t\\u0001\"}"},
      {"[\"\\d+\\'\\q\"]", "[\"\\\\d+'\\\\q\"]"},
      {"[\"a\\\nb\"]", "[\"a\\\\\\nb\"]"},
      {"{\"a\":1 , }", "{\"a\":1 }"},
      {"[1,2 ,\n]", "[1,2 ]"},
      {"[[1,],2,{\"a\":1,},\"b,\"]", "[[1],2,{\"a\":1},\"b,\"]"},
      {"[1,", "[1]"},
      {"{\"a\":[1,],", "{\"a\":[1]}"},
      {"[\"a\\", "[\"a\"]"},
  };
  for (const auto& [text, json] : cases) {
    EXPECT_EQ(repaired(text), json);
    EXPECT_TRUE(JsonOracle::accepts(json)) << json;
  }
}

TEST(JsonRepair, EndsTheValueWhereItCannotRepair) {
  JsonRepair repair;
  std::string json;
  EXPECT_EQ(repair.feed("{\"a\":1 x, \"b\":2}", json), 7u);
  EXPECT_TRUE(repair.broken());
  repair.close(json);
  EXPECT_EQ(json, "{\"a\":1 }");
}

TEST(JsonRepair, TakesNothingBehindTheValue) {
  JsonRepair repair;
  std::string json;
  EXPECT_EQ(repair.feed("[1] 2", json), 3u);
  EXPECT_TRUE(repair.complete());
  JsonRepair number;
  EXPECT_EQ(number.feed("12", json), 2u);
  EXPECT_FALSE(number.complete());
  EXPECT_EQ(number.feed(" ", json), 0u);
  EXPECT_TRUE(number.complete());
  EXPECT_FALSE(number.broken());
}

TEST(JsonRepair, DropsTheCommaInFrontOfAValueThatIsRefused) {
  EXPECT_EQ(repaired("[1,[2]]", {.depth_max = 1}), "[1]");
  EXPECT_EQ(repaired("[1,t,2]"), "[1,true]");
}

TEST(JsonRepair, GivesValidJsonOfRandomBytesHoweverCut) {
  Random random(5);
  constexpr std::string_view kBytes = "{}[]\",:\\u0d8e1-.tn'q \n\x01";
  for (int round = 0; round < 50'000; ++round) {
    std::string text = round % 2 == 0 ? "{\"a\":[\"" : "[";
    while (text.size() < 20) text.push_back(kBytes[random.below(kBytes.size())]);
    const std::string whole = repaired(text);
    ASSERT_TRUE(JsonOracle::accepts(whole)) << text << "\n" << whole;
    JsonRepair repair;
    std::string json;
    for (const char byte : text) repair.feed({&byte, 1}, json);
    repair.close(json);
    ASSERT_EQ(json, whole) << text;
  }
}

}  // namespace
}  // namespace zerohop

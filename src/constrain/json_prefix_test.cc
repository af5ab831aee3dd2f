#include "constrain/json_prefix.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "constrain/json_oracle.h"

namespace zerohop {
namespace {

// What is taken of `text`, completed.
std::string completed(std::string_view text, JsonPrefixOptions options = {}) {
  JsonPrefix reader(options);
  const std::size_t size = reader.feed(text);
  return std::string(text.substr(0, size)) + reader.closing();
}

const std::vector<std::string> kDocuments = {
    "{}",
    "[]",
    "null",
    "-0",
    "12.50e-3",
    "\"\"",
    "{\"a\":1,\"b\":[true,false,null,{\"c\":-1.5E+10}]}",
    " [ 1 , 2 , [ ] , { } ]",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\xc3\xa9\"",
    "{\"k\\n\" : { \"\" : [0, 0.0, 1e1] } }",
    "[\"\\uD7FF\",\"\\uE000\",\"\\uDbff\\uDfff\"]",
};

TEST(JsonPrefix, TakesAllOfAValidText) {
  for (const std::string& text : kDocuments) {
    ASSERT_TRUE(JsonOracle::accepts(text)) << text;
    JsonPrefix reader;
    EXPECT_EQ(reader.feed(text), text.size()) << text;
    EXPECT_TRUE(reader.complete()) << text;
    EXPECT_EQ(reader.closing(), "") << text;
  }
}

TEST(JsonPrefix, CompletesEveryBeginningOfAValidText) {
  for (const std::string& text : kDocuments) {
    for (std::size_t size = 0; size <= text.size(); ++size) {
      JsonPrefix reader;
      const std::string_view begin = std::string_view(text).substr(0, size);
      ASSERT_EQ(reader.feed(begin), size) << begin;
      const std::string whole = std::string(begin) + reader.closing();
      EXPECT_TRUE(JsonOracle::accepts(whole)) << whole;
      EXPECT_EQ(reader.complete(), JsonOracle::accepts(begin)) << begin;
    }
  }
}

TEST(JsonPrefix, DoesNotDependOnHowTheTextIsCut) {
  for (const std::string& text : kDocuments) {
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
      JsonPrefix whole;
      JsonPrefix parts;
      whole.feed(text);
      parts.feed(std::string_view(text).substr(0, cut));
      parts.feed(std::string_view(text).substr(cut));
      EXPECT_EQ(parts.complete(), whole.complete());
      EXPECT_EQ(parts.closing(), whole.closing());
    }
  }
}

TEST(JsonPrefix, CompletesInTheShortestWay) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "null"},
      {"-", "-0"},
      {"1.", "1.0"},
      {"1e", "1e0"},
      {"1e+", "1e+0"},
      {"tr", "true"},
      {"\"a", "\"a\""},
      {"\"a\\", "\"a\\\\\""},
      {"\"\\u12", "\"\\u1200\""},
      {"\"\\ud83d", "\"\\ud83d\\udc00\""},
      {"\"\\ud8", "\"\\ud800\\udc00\""},
      {"\"\\ud83d\\u", "\"\\ud83d\\udc00\""},
      {"\"\\ud83d\\ude0", "\"\\ud83d\\ude00\""},
      {"{\"a", "{\"a\":null}"},
      {"{\"a\"", "{\"a\":null}"},
      {"{\"a\":", "{\"a\":null}"},
      {"{\"a\":1,", "{\"a\":1,\"\":null}"},
      {"[1,", "[1,null]"},
      {"[{\"a\":[\"b", "[{\"a\":[\"b\"]}]"},
  };
  for (const auto& [text, whole] : cases) {
    EXPECT_EQ(completed(text), whole);
    EXPECT_TRUE(JsonOracle::accepts(whole)) << whole;
  }
}

TEST(JsonPrefix, StopsInFrontOfTheFirstByteThatCannotContinue) {
  const std::vector<std::pair<std::string, std::size_t>> cases = {
      {"{} ", 2},      {"{}{}", 2},       {"[1 2]", 3},        {"01", 1},
      {"1.e", 2},      {"+1", 0},         {"truE", 3},         {"{a", 1},
      {"{\"a\" 1", 5}, {"[,", 1},         {"[1,]", 3},         {"{\"a\":1,}", 7},
      {"\"\n", 1},     {"\"\\x", 2},      {"\"\\u00g", 5},     {"\"\\udc00", 4},
      {"[1}", 2},      {"\"\\ud83dx", 7}, {"\"\\ud83d\\n", 8}, {"\"\\ud83d\\ud8", 10},
      {"12 ", 2},      {"\"a\" ", 3},     {"{]", 1},           {"{\"a\":}", 5},
  };
  for (const auto& [text, size] : cases) {
    JsonPrefix reader;
    EXPECT_EQ(reader.feed(text), size) << text;
  }
}

TEST(JsonPrefix, IsNotChangedByARefusedByte) {
  JsonPrefix reader;
  EXPECT_EQ(reader.feed("[1,x"), 3u);
  EXPECT_EQ(reader.feed("2"), 1u);
  EXPECT_EQ(reader.closing(), "]");
}

TEST(JsonPrefix, TakesNothingButAnObjectWhereOneIsAskedFor) {
  const JsonPrefixOptions options{.root = JsonRoot::kObject};
  EXPECT_EQ(completed("[1", options), "{}");
  EXPECT_EQ(completed(" \n", options), " \n{}");
  EXPECT_EQ(completed("{\"a\":[1", options), "{\"a\":[1]}");
}

TEST(JsonPrefix, RefusesToNestDeeperThanTold) {
  JsonPrefix reader({.depth_max = 3});
  EXPECT_EQ(reader.feed("[[[["), 3u);
  EXPECT_EQ(reader.feed("]"), 1u);
  EXPECT_EQ(reader.feed(",["), 2u);
  EXPECT_EQ(reader.closing(), "]]]");
}

TEST(JsonPrefix, KnowsWhereItIs) {
  JsonPrefix reader;
  EXPECT_TRUE(reader.empty());
  reader.feed("{\"a");
  EXPECT_TRUE(reader.in_string());
  EXPECT_TRUE(reader.in_object());
  reader.feed("\\");
  EXPECT_TRUE(reader.in_escape());
  reader.feed("n\":[1");
  EXPECT_FALSE(reader.in_string());
  EXPECT_FALSE(reader.in_object());
  EXPECT_TRUE(reader.in_number());
  EXPECT_TRUE(reader.takes_comma());
  EXPECT_EQ(reader.depth(), 2u);
  reader.feed("]}");
  EXPECT_FALSE(reader.takes_comma());
  EXPECT_TRUE(reader.complete());
}

TEST(JsonPrefix, CompletesWhateverItTookOfRandomBytes) {
  Random random(11);
  constexpr std::string_view kBytes = "{}[]\",:\\u0d8ecE19-+.tfnrualse \n\x01\x80";
  std::size_t taken = 0;
  for (int round = 0; round < 100'000; ++round) {
    std::string text;
    while (text.size() < 24) text.push_back(kBytes[random.below(kBytes.size())]);
    JsonPrefix reader;
    // Goes on behind refused bytes, so that it gets deep.
    std::string accepted;
    for (const char byte : text) {
      if (reader.feed({&byte, 1}) == 1) accepted.push_back(byte);
    }
    taken += accepted.size();
    ASSERT_TRUE(JsonOracle::accepts(accepted + reader.closing())) << accepted;
    ASSERT_EQ(reader.complete(), JsonOracle::accepts(accepted)) << accepted;
  }
  EXPECT_GT(taken, 500'000u);
}

}  // namespace
}  // namespace zerohop

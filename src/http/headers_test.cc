#include "http/headers.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace zerohop {
namespace {

TEST(Headers, FindsTheFirstFieldWithoutCase) {
  Headers headers;
  headers.add("Anthropic-Beta", "one");
  headers.add("x-api-key", "key");
  headers.add("anthropic-beta", "two");
  EXPECT_EQ(headers.find("ANTHROPIC-BETA"), "one");
  EXPECT_EQ(headers.all("anthropic-beta"), (std::vector<std::string_view>{"one", "two"}));
  EXPECT_EQ(headers.count("anthropic-beta"), 2u);
  EXPECT_FALSE(headers.contains("x-api"));
  EXPECT_EQ(headers.size(), 3u);
}

TEST(Headers, ComparesOnlyAsciiLettersWithoutCase) {
  EXPECT_TRUE(equals_ignoring_case("aZ-9", "Az-9"));
  EXPECT_FALSE(equals_ignoring_case("[", "{"));  // 32 apart, like letters
  EXPECT_FALSE(equals_ignoring_case("ab", "abc"));
}

TEST(Headers, WipesTheValuesOfAName) {
  Headers headers;
  headers.add("X-Api-Key", "secret");
  headers.add("x-api-key", "another");
  headers.add("host", "here");
  headers.wipe("x-api-key");
  EXPECT_EQ(headers.all("x-api-key")[0], std::string(6, '\0'));
  EXPECT_EQ(headers.all("x-api-key")[1], std::string(7, '\0'));
  EXPECT_EQ(headers.find("host"), "here");
}

TEST(Headers, KnowsTokens) {
  EXPECT_TRUE(is_http_token("x-Stainless_Retry.Count!"));
  for (const char* bad : {"", "a b", "a:b", "a\tb", "a\"b", "\xc3\xa9"}) {
    EXPECT_FALSE(is_http_token(bad)) << bad;
  }
}

TEST(Headers, FindsTokensInLists) {
  EXPECT_TRUE(list_has_token("keep-alive, Close", "close"));
  EXPECT_TRUE(list_has_token("\t100-Continue ", "100-continue"));
  EXPECT_TRUE(list_has_token(",,close,", "close"));
  EXPECT_FALSE(list_has_token("closed, not-close", "close"));
  EXPECT_FALSE(list_has_token("", "close"));
}

}  // namespace
}  // namespace zerohop

#include "http/url.h"

#include <gtest/gtest.h>

#include <string>

namespace zerohop {
namespace {

TEST(PercentDecode, ReplacesEscapesByBytes) {
  EXPECT_EQ(percent_decode("a%20b%2Fc%2f%C3%A9", BadEscapes::kRefuse), "a b/c/\xc3\xa9");
  EXPECT_EQ(percent_decode("%00", BadEscapes::kRefuse), std::string(1, '\0'));
  EXPECT_EQ(percent_decode("a+b", BadEscapes::kRefuse), "a+b");
  EXPECT_EQ(percent_decode("%2541", BadEscapes::kRefuse), "%41");  // once, not twice
}

TEST(PercentDecode, RefusesOrKeepsBadEscapes) {
  for (const char* bad : {"%", "%4", "a%", "%zz", "%4g", "%-1", "%%41"}) {
    EXPECT_EQ(percent_decode(bad, BadEscapes::kRefuse), std::nullopt) << bad;
  }
  EXPECT_EQ(percent_decode("%zz%41%", BadEscapes::kKeep), "%zzA%");
}

TEST(QueryParameter, FindsTheFirstOfAName) {
  EXPECT_EQ(query_parameter("limit=10&after_id=m%2F1&limit=20", "limit"), "10");
  EXPECT_EQ(query_parameter("limit=10&after_id=m%2F1", "after_id"), "m/1");
  EXPECT_EQ(query_parameter("q=a+b%2Bc", "q"), "a b+c");
  EXPECT_EQ(query_parameter("beta&x=", "beta"), "");
  EXPECT_EQ(query_parameter("beta&x=", "x"), "");
  EXPECT_EQ(query_parameter("a=b=c", "a"), "b=c");
  EXPECT_EQ(query_parameter("&&a=1&&", "a"), "1");
  EXPECT_EQ(query_parameter("a=1", "b"), std::nullopt);
  EXPECT_EQ(query_parameter("", ""), std::nullopt);
}

TEST(NormalisePath, CollapsesSlashes) {
  EXPECT_EQ(normalise_path("/v1//messages///"), "/v1/messages");
  EXPECT_EQ(normalise_path("//"), "/");
  EXPECT_EQ(normalise_path(""), "/");
  EXPECT_EQ(normalise_path("/a%2F%2Fb"), "/a%2F%2Fb");
}

TEST(SplitTarget, UnderstandsTheFormsOfATarget) {
  const auto origin = split_target("/v1/messages/?beta=true?x");
  ASSERT_TRUE(origin);
  EXPECT_EQ(origin->path, "/v1/messages");
  EXPECT_EQ(origin->query, "beta=true?x");
  const auto absolute = split_target("HTTP://host:8080//a?b=c");
  ASSERT_TRUE(absolute);
  EXPECT_EQ(absolute->path, "/a");
  EXPECT_EQ(absolute->query, "b=c");
  EXPECT_EQ(split_target("http://host")->path, "/");
  EXPECT_EQ(split_target("http://host?q")->query, "q");
  EXPECT_EQ(split_target("*")->path, "*");
  for (const char* bad : {"", "host:443", "messages", "http://", "http:///path", "ftp://host/"}) {
    EXPECT_FALSE(split_target(bad)) << bad;
  }
}

}  // namespace
}  // namespace zerohop

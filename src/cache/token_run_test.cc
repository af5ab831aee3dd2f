#include "cache/token_run.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

std::vector<Token> held(const TokenRun& run) { return {run.span().begin(), run.span().end()}; }

TEST(CommonLength, FindsTheFirstDifferenceInEveryPlaceOfABlock) {
  std::vector<Token> a(200, 7);
  for (std::size_t at = 0; at < a.size(); ++at) {
    std::vector<Token> b = a;
    b[at] = 8;
    EXPECT_EQ(common_length(a, b), at);
  }
  EXPECT_EQ(common_length(a, a), 200u);
}

TEST(CommonLength, EndsWithTheShorterOne) {
  const std::vector<Token> a(100, 7);
  EXPECT_EQ(common_length(a, TokenSpan(a).first(65)), 65u);
  EXPECT_EQ(common_length(TokenSpan(), a), 0u);
}

TEST(TokenRun, SplitsIntoTwoThatReadTheSame) {
  TokenRun rest(std::vector<Token>{1, 2, 3, 4, 5});
  const TokenRun front = rest.take_front(2);
  EXPECT_EQ(held(front), (std::vector<Token>{1, 2}));
  EXPECT_EQ(held(rest), (std::vector<Token>{3, 4, 5}));
}

TEST(TokenRun, GrowingTheFrontLeavesTheRestAlone) {
  TokenRun rest(std::vector<Token>{1, 2, 3, 4});
  TokenRun front = rest.take_front(2);
  front.append(std::vector<Token>{9, 9});
  rest.append(std::vector<Token>{5});
  EXPECT_EQ(held(front), (std::vector<Token>{1, 2, 9, 9}));
  EXPECT_EQ(held(rest), (std::vector<Token>{3, 4, 5}));
}

TEST(TokenRun, MovesTheBorderToItsNeighbour) {
  TokenRun rest(std::vector<Token>{1, 2, 3, 4});
  TokenRun front = rest.take_front(1);
  front.take_from(rest, 2);
  EXPECT_EQ(held(front), (std::vector<Token>{1, 2, 3}));
  EXPECT_EQ(held(rest), (std::vector<Token>{4}));
}

TEST(TokenRun, TakesFromAStrangerByCopying) {
  TokenRun one(std::vector<Token>{1, 2});
  TokenRun other(std::vector<Token>{3, 4});
  one.take_from(other, 1);
  EXPECT_EQ(held(one), (std::vector<Token>{1, 2, 3}));
  EXPECT_EQ(held(other), (std::vector<Token>{4}));
}

TEST(TokenRun, AnEmptyOneCanGrow) {
  TokenRun run;
  EXPECT_TRUE(run.span().empty());
  run.append(std::vector<Token>{1});
  EXPECT_EQ(run.front(), 1);
}

}  // namespace
}  // namespace zerohop

#include "engine/soft_limit.h"

#include <gtest/gtest.h>

#include <cmath>

namespace zerohop {
namespace {

double scattered(double fragmentation) { return soft_limit_share({fragmentation, 0}); }
double scarce(double promised) { return soft_limit_share({0, promised}); }

TEST(SoftLimit, FollowsItsCurveOfFragmentation) {
  EXPECT_EQ(scattered(0), 1);
  EXPECT_EQ(scattered(0.35), 1);
  EXPECT_NEAR(scattered(0.40), 0.87, 1e-12);
  EXPECT_NEAR(scattered(0.375), 0.935, 1e-12);
  EXPECT_EQ(scattered(0.45), 0.75);
  EXPECT_EQ(scattered(1), 0.75);
}

TEST(SoftLimit, FollowsTheSameLineBetweenTheMarksOfScarceCells) {
  EXPECT_EQ(scarce(0.5), 1);
  EXPECT_EQ(scarce(0.87), 1);
  EXPECT_NEAR(scarce(0.92), 0.87, 1e-12);
  EXPECT_NEAR(scarce(0.895), 0.935, 1e-12);
  EXPECT_EQ(scarce(0.97), 0.75);
  EXPECT_EQ(scarce(1), 0.75);
}

TEST(SoftLimit, TakesTheSmallerShareAndNotTheProductOfBoth) {
  EXPECT_NEAR(soft_limit_share({0.36, 0.92}), 0.87, 1e-12);
  EXPECT_NEAR(soft_limit_share({0.40, 0.88}), 0.87, 1e-12);
  EXPECT_EQ(soft_limit_share({1, 1}), 0.75);
}

TEST(SoftLimit, NeverRisesWithEither) {
  for (int i = 0; i < 1000; ++i) {
    EXPECT_GE(scattered(i / 1000.0), scattered((i + 1) / 1000.0));
    EXPECT_GE(scarce(i / 1000.0), scarce((i + 1) / 1000.0));
  }
}

TEST(SoftLimit, TakesNoMoreThanAQuarterAndNeverEverything) {
  EXPECT_EQ(soft_max_tokens(0, {1, 1}), 0u);
  EXPECT_EQ(soft_max_tokens(1000, {0.2, 0.2}), 1000u);
  EXPECT_EQ(soft_max_tokens(1000, {0.40, 0}), 870u);
  EXPECT_EQ(soft_max_tokens(1000, {0, 0.92}), 870u);
  for (std::uint32_t tokens = 1; tokens < 400; ++tokens) {
    for (const double measure : {0.0, 0.36, 0.4, 0.44, 0.9, 1.0}) {
      const std::uint32_t soft = soft_max_tokens(tokens, {measure, measure});
      EXPECT_GE(soft, std::ceil(0.75 * tokens));
      EXPECT_LE(soft, tokens);
    }
  }
  EXPECT_EQ(soft_max_tokens(UINT32_MAX, {}), UINT32_MAX);
}

TEST(SoftLimit, RecommendsWhatHasRoom) {
  EXPECT_EQ(recommended_max_tokens({1000, 300, 200, 100, 4096}), 400u);
  EXPECT_EQ(recommended_max_tokens({1000, 300, 200, 100, 50}), 50u);
  EXPECT_EQ(recommended_max_tokens({1000, 300, 600, 100, 50}), 0u);
  EXPECT_EQ(recommended_max_tokens({1000, UINT32_MAX, UINT32_MAX, UINT32_MAX, 50}), 0u);
}

}  // namespace
}  // namespace zerohop

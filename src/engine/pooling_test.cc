#include "engine/pooling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace zerohop {
namespace {

using Rows = std::vector<std::vector<float>>;

std::optional<std::vector<float>> pool(PoolingType pooling, const Rows& rows) {
  Pooler pooler(pooling);
  pooler.start();
  for (const std::vector<float>& row : rows) pooler.add(row);
  return pooler.finish();
}

void expect_vector(const std::optional<std::vector<float>>& vector,
                   const std::vector<float>& expected) {
  ASSERT_TRUE(vector.has_value());
  ASSERT_EQ(vector->size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_FLOAT_EQ((*vector)[i], expected[i]);
}

const Rows kRows{{3, 0, 0}, {0, 1, 0}, {0, 3, 0}};

TEST(Pooling, TakesTheMeanOfAllTokens) {
  expect_vector(pool(PoolingType::kMean, kRows), {0.6f, 0.8f, 0});
  expect_vector(pool(PoolingType::kUnspecified, kRows), {0.6f, 0.8f, 0});
}

TEST(Pooling, TakesTheFirstOrTheLastToken) {
  expect_vector(pool(PoolingType::kFirst, kRows), {1, 0, 0});
  expect_vector(pool(PoolingType::kLast, {{3, 0}, {-3, 4}}), {-0.6f, 0.8f});
}

TEST(Pooling, ForgetsTheTextBefore) {
  Pooler pooler(PoolingType::kMean);
  pooler.add(std::vector<float>{5, 5, 5});
  pooler.start();
  pooler.add(std::vector<float>{0, 2});
  expect_vector(pooler.finish(), {0, 1});
}

TEST(Pooling, HasNoVectorWithoutADirection) {
  EXPECT_FALSE(pool(PoolingType::kMean, {{0, 0}}).has_value());
  EXPECT_FALSE(pool(PoolingType::kMean, {{1, 2}, {-1, -2}}).has_value());
  EXPECT_FALSE(
      pool(PoolingType::kLast, {{std::numeric_limits<float>::quiet_NaN(), 1}}).has_value());
}

}  // namespace
}  // namespace zerohop

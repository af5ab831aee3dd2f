#include "engine/softmax_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"

namespace zerohop {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(SoftmaxKernel, FindsTheLargestAtEveryLengthAndPlace) {
  for (std::size_t size = 1; size < 50; ++size) {
    for (std::size_t place = 0; place < size; ++place) {
      std::vector<float> logits(size, -3.0f);
      logits[place] = 2.5f;
      logits[(place + 1) % size] = size > 1 ? kNaN : 2.5f;
      EXPECT_EQ(largest_logit(logits), 2.5f) << size << " " << place;
    }
  }
}

TEST(SoftmaxKernel, HasNoLargestAmongNaN) {
  EXPECT_EQ(largest_logit(std::vector<float>(40, kNaN)), -kInfinity);
}

TEST(SoftmaxKernel, WeighsLikeTheStandardExponential) {
  Random random(1);
  for (std::size_t size = 1; size < 300; ++size) {
    std::vector<float> logits(size);
    for (float& logit : logits) logit = static_cast<float>(random.uniform() * 79.0 - 79.0);
    std::vector<float> weights(size);
    const float sum = weigh_logits(logits, {0.0f, 1.0f}, weights);
    double expected_sum = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const double expected = std::exp(static_cast<double>(logits[i]));
      EXPECT_NEAR(static_cast<double>(weights[i]) / expected, 1.0, 1e-6) << logits[i];
      expected_sum += expected;
    }
    EXPECT_NEAR(static_cast<double>(sum) / expected_sum, 1.0, 1e-5);
  }
}

TEST(SoftmaxKernel, KeepsTheWeightsThatHaveABit) {
  Random random(3);
  for (std::size_t size = 1; size < 300; ++size) {
    std::vector<float> weights(size);
    for (float& weight : weights) weight = static_cast<float>(random.uniform());
    // The last tokens may be beyond the words.
    std::vector<std::uint64_t> bits((size + 63) / 64 - (size % 3 == 0 ? 1 : 0));
    for (std::uint64_t& word : bits) word = random.next();
    if (!bits.empty() && size % 2 == 0) bits.front() = ~std::uint64_t{0};
    std::vector<float> kept = weights;
    const float sum = keep_weights(kept, bits);
    double expected = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const bool legal = i / 64 < bits.size() && (bits[i / 64] >> (i % 64) & 1) != 0;
      EXPECT_EQ(kept[i], legal ? weights[i] : 0.0f) << i << " of " << size;
      expected += legal ? static_cast<double>(weights[i]) : 0.0;
    }
    EXPECT_NEAR(static_cast<double>(sum), expected, 1e-4);
  }
}

TEST(SoftmaxKernel, GivesExactlyOneToTheTopAndNothingToTheImpossible) {
  const std::vector<float> logits{5.0f, -kInfinity, kNaN, -90.0f, 5.0f};
  std::vector<float> weights(logits.size(), 7.0f);
  EXPECT_EQ(weigh_logits(logits, {5.0f, 0.5f}, weights), 2.0f);
  EXPECT_EQ(weights[0], 1.0f);
  EXPECT_EQ(weights[1], 0.0f);
  EXPECT_EQ(weights[2], 0.0f);
  EXPECT_GT(weights[3], 0.0f);  // (−90 − 5) · 0.5 = −47.5 still counts
  EXPECT_EQ(weights[4], 1.0f);
}

}  // namespace
}  // namespace zerohop

#include "engine/token_chances.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.h"

namespace zerohop {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TokenTable table_of(std::size_t size) {
  TokenTable table;
  for (std::size_t i = 0; i < size; ++i) table.add("t" + std::to_string(i), false, false);
  return table;
}

TokenLogprobs describe(const std::vector<float>& logits, std::size_t count, Token chosen) {
  TokenChances chances;
  chances.read(logits, count);
  return chances.describe(chosen, table_of(logits.size()));
}

// Sorts everything, sums in long double.
std::vector<long double> naive_logprobs(const std::vector<float>& logits) {
  const float top = *std::max_element(logits.begin(), logits.end());
  long double total = 0;
  for (const float logit : logits) total += std::exp(static_cast<long double>(logit) - top);
  std::vector<long double> logprobs;
  for (const float logit : logits) logprobs.push_back(logit - top - std::log(total));
  return logprobs;
}

TEST(TokenChances, AgreeWithASortOfTheWholeVocabulary) {
  Random random(11);
  for (int round = 0; round < 80; ++round) {
    std::vector<float> logits(1 + random.below(3000));
    for (float& logit : logits) {
      logit = static_cast<float>(random.uniform() * 30.0 - 15.0);
      if (random.chance(0.3)) logit = std::round(logit);  // equals
    }
    const std::size_t count = random.below(21);
    const auto chosen = static_cast<Token>(random.below(logits.size()));
    const TokenLogprobs event = describe(logits, count, chosen);
    const std::vector<long double> expected = naive_logprobs(logits);
    std::vector<Token> order(logits.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](Token a, Token b) {
      return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
    });
    EXPECT_NEAR(event.chosen.logprob, expected[static_cast<std::size_t>(chosen)], 1e-4);
    EXPECT_EQ(event.chosen.token, chosen);
    ASSERT_EQ(event.likeliest.size(), std::min(count, logits.size()));
    for (std::size_t i = 0; i < event.likeliest.size(); ++i) {
      EXPECT_EQ(event.likeliest[i].token, order[i]);
      EXPECT_NEAR(event.likeliest[i].logprob, expected[static_cast<std::size_t>(order[i])], 1e-4);
    }
  }
}

TEST(TokenChances, CarryTheBytesOfTheTokens) {
  const TokenLogprobs event = describe({1.0f, 3.0f, 2.0f}, 2, 0);
  EXPECT_EQ(event.chosen.bytes, "t0");
  EXPECT_EQ(event.likeliest[0].bytes, "t1");
  EXPECT_EQ(event.likeliest[1].bytes, "t2");
}

TEST(TokenChances, SurviveLogitsThatAreNoNumbers) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const TokenLogprobs event = describe({nan, 0.0f, -kInfinity, 0.0f}, 4, 1);
  EXPECT_NEAR(event.chosen.logprob, std::log(0.5), 1e-6);
  ASSERT_EQ(event.likeliest.size(), 3u);
  EXPECT_EQ(event.likeliest[0].token, 1);
  EXPECT_EQ(event.likeliest[1].token, 3);
  EXPECT_EQ(event.likeliest[2].logprob, -9999.0f);
  EXPECT_EQ(describe({nan, nan}, 1, 0).chosen.logprob, -9999.0f);
}

TEST(TokenChances, AreCertainOfAnInfiniteLogit) {
  const TokenLogprobs event = describe({1.0f, kInfinity}, 2, 1);
  EXPECT_EQ(event.chosen.logprob, 0.0f);
  EXPECT_EQ(event.likeliest[1].logprob, -9999.0f);
}

TEST(TokenChances, KeepNothingOfTheLogitsBefore) {
  TokenChances chances;
  const TokenTable table = table_of(600);
  chances.read(std::vector<float>(600, 1.0f), 5);
  std::vector<float> logits(300, 0.0f);
  logits[299] = 20.0f;
  chances.read(logits, 1);
  logits[299] = -5.0f;  // as sampling may do
  const TokenLogprobs event = chances.describe(299, table);
  ASSERT_EQ(event.likeliest.size(), 1u);
  EXPECT_EQ(event.likeliest[0].token, 299);
  EXPECT_NEAR(event.chosen.logprob, 0.0, 1e-5);
}

}  // namespace
}  // namespace zerohop

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "constrain/constraint_session.h"
#include "constrain/constraint_test_kit.h"
#include "engine/sampler.h"

namespace zerohop {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A machine that reads one byte of `legal`, and then ends.
std::unique_ptr<ConstraintMachine> one_of(std::string_view legal) {
  std::vector<TableMachine::Row> rows(2);
  for (const char byte : legal) rows[0].next[static_cast<unsigned char>(byte)] = 1;
  rows[1].accepting = true;
  return std::make_unique<TableMachine>(std::move(rows));
}

class ConstrainedSampling : public testing::Test {
 protected:
  ConstraintSession session(std::unique_ptr<ConstraintMachine> machine, std::size_t tokens = 10) {
    return ConstraintSession({.machine = std::make_shared<LiveMachine>(std::move(machine), ++id_),
                              .masks = &masks_,
                              .tokens_max = tokens,
                              .statistics = &statistics_});
  }

  std::map<Token, int> histogram(const SamplingParameters& parameters, std::string_view legal,
                                 int draws) {
    Random random(4711);
    Sampler sampler;
    std::map<Token, int> counts;
    ConstraintSession constraint = session(one_of(legal));
    for (int i = 0; i < draws; ++i) {
      std::vector<float> logits = logits_;
      const SampleInput input{.parameters = parameters, .constraint = &constraint};
      ++counts[sampler.sample(logits, input, random).value()];
    }
    return counts;
  }

  // Probability of each legal token when the others are masked first.
  std::map<Token, double> masked(std::string_view legal, double temperature) const {
    std::map<Token, double> weights;
    double total = 0;
    for (const char byte : legal) {
      const auto token = static_cast<Token>(static_cast<unsigned char>(byte));
      const double logit = static_cast<double>(logits_[static_cast<std::size_t>(token)]);
      total += weights[token] = std::exp(logit / temperature);
    }
    for (auto& [token, weight] : weights) weight /= total;
    return weights;
  }

  static double chi_square(const std::map<Token, double>& expected,
                           const std::map<Token, int>& counts, int draws) {
    double sum = 0;
    for (const auto& [token, probability] : expected) {
      const auto found = counts.find(token);
      const double count = found == counts.end() ? 0.0 : static_cast<double>(found->second);
      const double mean = probability * draws;
      sum += (count - mean) * (count - mean) / mean;
    }
    return sum;
  }

  std::vector<float> logits_ = [] {
    Random random(5);
    std::vector<float> logits(261);
    for (float& logit : logits) logit = static_cast<float>(random.uniform() * 4);
    return logits;
  }();
  std::shared_ptr<const TokenTrie> tokens_ = vocabulary_of({});
  MaskCache masks_{tokens_, 1 << 20};
  ConstraintStatistics statistics_;
  std::uint64_t id_ = 0;
};

// 3 tokens are a sparse mask, 20 a dense one (of 261). 99.9 % of chi-square values with n degrees
// of freedom are below n + 3.1 √(2n) + 5.
TEST_F(ConstrainedSampling, HasExactlyTheMaskedDistributionWithoutTruncation) {
  for (const std::string_view legal : {"axq", "abcdefghijklmnopqrst"}) {
    for (const float temperature : {0.7f, 1.0f, 1.5f}) {
      constexpr int kDraws = 20'000;
      const auto counts = histogram({.temperature = temperature}, legal, kDraws);
      const auto expected = masked(legal, static_cast<double>(temperature));
      for (const auto& [token, count] : counts) EXPECT_TRUE(expected.contains(token)) << token;
      const double freedom = static_cast<double>(expected.size()) - 1;
      EXPECT_LT(chi_square(expected, counts, kDraws), freedom + 3.1 * std::sqrt(2 * freedom) + 5);
    }
  }
  EXPECT_GT(statistics_.misses, 0u);
  EXPECT_EQ(statistics_.checks, 120'000u);
}

// So unlikely that of the first draw's weights nothing is left of them.
TEST_F(ConstrainedSampling, HasTheMaskedDistributionWhereAllLegalTokensAreUnlikely) {
  for (const double top : {40.0, 120.0}) {
    logits_['#'] = static_cast<float>(top);
    for (const std::string_view legal : {"axq", "abcdefghijklmnopqrst"}) {
      constexpr int kDraws = 5'000;
      const auto counts = histogram({.temperature = 1}, legal, kDraws);
      const auto expected = masked(legal, 1);
      for (const auto& [token, count] : counts) EXPECT_TRUE(expected.contains(token)) << token;
      const double freedom = static_cast<double>(expected.size()) - 1;
      EXPECT_LT(chi_square(expected, counts, kDraws), freedom + 3.1 * std::sqrt(2 * freedom) + 5);
    }
  }
}

TEST_F(ConstrainedSampling, TakesTheLikeliestLegalTokenWhenGreedy) {
  logits_['z'] = 50;
  logits_['q'] = 20;
  logits_['x'] = 19;
  const auto counts = histogram({.temperature = 0}, "axq", 3);
  EXPECT_EQ(counts, (std::map<Token, int>{{'q', 3}}));
}

TEST_F(ConstrainedSampling, TruncatesTheLegalTokensOnAMiss) {
  logits_['z'] = 50;  // every first draw misses
  logits_['q'] = 21;
  logits_['x'] = 20;
  const auto two = histogram({.top_k = 2}, "axq", 400);
  EXPECT_EQ(two.size(), 2u);
  EXPECT_TRUE(two.contains('q') && two.contains('x'));
  EXPECT_EQ(histogram({.top_p = 0.5f}, "axq", 100), (std::map<Token, int>{{'q', 100}}));
  EXPECT_EQ(histogram({.min_p = 0.9f}, "axq", 100), (std::map<Token, int>{{'q', 100}}));
}

TEST_F(ConstrainedSampling, IsNotStoppedByBiasesAgainstAllLegalTokens) {
  SamplingParameters parameters;
  parameters.logit_bias = {{'a', -kInfinity}, {'x', -kInfinity}};
  const auto counts = histogram(parameters, "ax", 10);
  for (const auto& [token, count] : counts) EXPECT_TRUE(token == 'a' || token == 'x');
  EXPECT_EQ(statistics_.closings, 10u);
}

TEST_F(ConstrainedSampling, SumsUpHowLikelyTheLegalTokensWere) {
  std::fill(logits_.begin(), logits_.end(), -kInfinity);
  logits_['z'] = 0;
  logits_['a'] = std::log(0.25f);
  const auto counts = histogram({.temperature = 1}, "a", 1000);
  EXPECT_EQ(counts.at('a'), 1000);
  EXPECT_NEAR(statistics_.legal_mass / static_cast<double>(statistics_.misses), 0.2, 1e-5);
}

TEST_F(ConstrainedSampling, BringsTheTextToItsEndWhenTheModelWantsToGoOn) {
  // a…; the model never wants the closing byte.
  logits_[';'] = -30;
  logits_['a'] = 30;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    Sampler sampler;
    ConstraintSession constraint =
        session(std::make_unique<TableMachine>(std::vector<TableMachine::Row>{
                    {.next = {{'a', 0}, {'b', 0}, {';', 1}}}, {.accepting = true}}),
                1 + seed);
    while (constraint.remaining() > 0 && !constraint.must_end()) {
      std::vector<float> logits = logits_;
      const SampleInput input{.parameters = SamplingParameters{}, .constraint = &constraint};
      const auto token = sampler.sample(logits, input, random);
      ASSERT_TRUE(token.has_value() && constraint.allows(*token));
      constraint.accept(*token);
    }
    EXPECT_TRUE(constraint.may_end()) << constraint.text();
  }
}

}  // namespace
}  // namespace zerohop

#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace zerohop {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Token sample_once(std::vector<float> logits, const SamplingParameters& parameters,
                  std::uint64_t seed = 1) {
  Sampler sampler;
  Random random(seed);
  const auto token = sampler.sample(logits, {parameters}, random);
  EXPECT_TRUE(token.has_value());
  return token.value_or(-1);
}

std::map<Token, int> histogram(const std::vector<float>& logits,
                               const SamplingParameters& parameters, int draws) {
  Sampler sampler;
  Random random(99);
  std::map<Token, int> counts;
  for (int i = 0; i < draws; ++i) {
    std::vector<float> copy = logits;
    ++counts[sampler.sample(copy, {parameters}, random).value()];
  }
  return counts;
}

std::set<Token> reachable(const std::vector<float>& logits, const SamplingParameters& parameters) {
  std::set<Token> tokens;
  for (const auto& [token, count] : histogram(logits, parameters, 3000)) tokens.insert(token);
  return tokens;
}

// Probabilities 0.5, 0.25, 0.125, … of eight tokens, in a scrambled order.
std::vector<float> halves() {
  std::vector<float> logits(8);
  const std::vector<int> rank{3, 0, 7, 1, 5, 2, 6, 4};
  for (std::size_t i = 0; i < 8; ++i) {
    logits[i] = -static_cast<float>(rank[i]) * std::log(2.0f);
  }
  return logits;
}

TEST(Sampler, TakesTheLikeliestTokenAtTemperatureZero) {
  EXPECT_EQ(sample_once({0.1f, 3.0f, 2.9f}, {.temperature = 0}), 1);
}

TEST(Sampler, TakesTheLowestIdAmongEquals) {
  EXPECT_EQ(sample_once({0, 5, 5, 5}, {.temperature = 0}), 1);
}

TEST(Sampler, FollowsTheDistribution) {
  const auto counts = histogram(halves(), {}, 40000);
  EXPECT_NEAR(counts.at(1), 20078, 600);  // 0.5 of the mass 255/256
  EXPECT_NEAR(counts.at(3), 10039, 500);
  EXPECT_NEAR(counts.at(5), 5020, 400);
}

TEST(Sampler, FlattensAndSharpensWithTemperature) {
  EXPECT_GT(histogram(halves(), {.temperature = 0.5f}, 10000).at(1), 7000);
  EXPECT_LT(histogram(halves(), {.temperature = 3.0f}, 10000).at(1), 3500);
}

TEST(Sampler, KeepsTheKLikeliest) {
  EXPECT_EQ(reachable(halves(), {.top_k = 3}), (std::set<Token>{1, 3, 5}));
}

TEST(Sampler, KeepsTheSmallestHeadThatReachesTopP) {
  EXPECT_EQ(reachable(halves(), {.top_p = 0.7f}), (std::set<Token>{1, 3}));
  EXPECT_EQ(reachable(halves(), {.top_p = 0.01f}), (std::set<Token>{1}));
}

TEST(Sampler, KeepsTokensWithinMinPOfTheLikeliest) {
  EXPECT_EQ(reachable(halves(), {.min_p = 0.2f}), (std::set<Token>{1, 3, 5}));
}

TEST(Sampler, IntersectsItsThreeLimits) {
  EXPECT_EQ(reachable(halves(), {.top_p = 0.99f, .min_p = 0.2f, .top_k = 5}),
            (std::set<Token>{1, 3, 5}));
  EXPECT_EQ(reachable(halves(), {.top_p = 0.7f, .min_p = 0.01f, .top_k = 5}),
            (std::set<Token>{1, 3}));
}

// top_p is judged on the whole distribution: renormalising after top_k would keep fewer tokens.
TEST(Sampler, JudgesTopPOnTheWholeDistribution) {
  EXPECT_EQ(reachable(halves(), {.top_p = 0.8f, .top_k = 3}), (std::set<Token>{1, 3, 5}));
}

TEST(Sampler, NeverEmptiesTheCandidateSet) {
  EXPECT_EQ(reachable(halves(), {.top_p = 0.0f, .min_p = 1.0f, .top_k = 1}), (std::set<Token>{1}));
}

TEST(Sampler, AddsLogitBias) {
  SamplingParameters parameters{.temperature = 0};
  parameters.logit_bias = {{0, 10.0f}, {999, 5.0f}, {-4, 5.0f}};
  EXPECT_EQ(sample_once({0, 5, 1}, parameters), 0);
}

TEST(Sampler, BansWithMinusInfinityAndForcesWithPlusInfinity) {
  SamplingParameters ban;
  ban.logit_bias = {{1, -kInfinity}};
  EXPECT_FALSE(reachable(halves(), ban).contains(1));
  SamplingParameters force;
  force.logit_bias = {{7, kInfinity}};
  EXPECT_EQ(reachable(halves(), force), (std::set<Token>{7}));
}

TEST(Sampler, SaysWhenNoLogitIsFinite) {
  Sampler sampler;
  Random random(1);
  std::vector<float> broken(4, std::numeric_limits<float>::quiet_NaN());
  EXPECT_FALSE(sampler.sample(broken, {SamplingParameters{}}, random).has_value());
  std::vector<float> banned(4, -kInfinity);
  EXPECT_FALSE(sampler.sample(banned, {SamplingParameters{}}, random).has_value());
}

TEST(Sampler, IgnoresNaNBesideFiniteLogits) {
  std::vector<float> logits = halves();
  logits[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(reachable(logits, {}).contains(3));
  EXPECT_FALSE(reachable(logits, {.top_p = 0.9f}).contains(3));
}

TEST(Sampler, RepeatsItselfForTheSameSeed) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(sample_once(halves(), {}, seed), sample_once(halves(), {}, seed));
  }
}

// Against a plain reference that sorts everything and works in double precision.
// Tokens that may be drawn, with their probabilities.
std::map<Token, double> reference_set(const std::vector<float>& logits,
                                      const SamplingParameters& p) {
  std::vector<Token> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Token a, Token b) {
    return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
  });
  const double top = static_cast<double>(logits[static_cast<std::size_t>(order[0])]);
  auto weight = [&](Token token) {
    return std::exp((static_cast<double>(logits[static_cast<std::size_t>(token)]) - top) /
                    static_cast<double>(p.temperature));
  };
  double total = 0;
  for (const Token token : order) total += weight(token);
  std::map<Token, double> kept;
  double mass = 0;
  for (const Token token : order) {
    const bool within_k = p.top_k == 0 || kept.size() < static_cast<std::size_t>(p.top_k);
    const bool within_p = mass < static_cast<double>(p.top_p) * total;
    const bool within_min = weight(token) >= static_cast<double>(p.min_p);
    if (!kept.empty() && !(within_k && within_p && within_min)) break;
    kept[token] = weight(token);
    mass += weight(token);
  }
  for (auto& [token, probability] : kept) probability /= mass;
  return kept;
}

TEST(Sampler, AgreesWithAPlainReferenceOnRandomDistributions) {
  Random random(7);
  for (int round = 0; round < 60; ++round) {
    std::vector<float> logits(50 + random.below(400));
    for (float& logit : logits) logit = static_cast<float>(random.uniform() * 12.0);
    SamplingParameters parameters;
    parameters.temperature = static_cast<float>(0.3 + random.uniform() * 2);
    if (random.chance(0.6)) parameters.top_p = static_cast<float>(0.05 + random.uniform() * 0.9);
    if (random.chance(0.5)) parameters.top_k = static_cast<std::int32_t>(1 + random.below(40));
    if (random.chance(0.5)) parameters.min_p = static_cast<float>(random.uniform() * 0.3);
    const std::map<Token, double> allowed = reference_set(logits, parameters);
    const std::set<Token> drawn = reachable(logits, parameters);
    for (const Token token : drawn) EXPECT_TRUE(allowed.contains(token)) << token;
    for (const auto& [token, probability] : allowed) {
      EXPECT_TRUE(probability < 0.01 || drawn.contains(token)) << token;  // 3,000 draws
    }
  }
}

}  // namespace
}  // namespace zerohop

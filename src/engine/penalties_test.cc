#include "engine/penalties.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "engine/sampler.h"

namespace zerohop {
namespace {

// Straight from the definitions, over the whole text and the whole vocabulary.
std::vector<float> naive_penalties(std::vector<float> logits, const SamplingParameters& p,
                                   const std::vector<Token>& prompt,
                                   const std::vector<Token>& answer) {
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const auto token = static_cast<Token>(i);
    const auto in_prompt = std::count(prompt.begin(), prompt.end(), token);
    const auto in_answer = std::count(answer.begin(), answer.end(), token);
    if (in_prompt + in_answer > 0) {
      if (logits[i] > 0) {
        logits[i] /= p.repetition_penalty;
      } else {
        logits[i] *= p.repetition_penalty;
      }
    }
    if (in_answer > 0) {
      logits[i] -= p.presence_penalty + p.frequency_penalty * static_cast<float>(in_answer);
    }
  }
  return logits;
}

std::vector<Token> random_text(Random& random, std::size_t vocabulary) {
  std::vector<Token> text(random.below(60));
  for (Token& token : text) token = static_cast<Token>(random.below(vocabulary));
  return text;
}

TEST(Penalties, AgreeWithTheirDefinitionsOnRandomTexts) {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<float> logits(10 + random.below(60));
    for (float& logit : logits) logit = static_cast<float>(random.uniform() * 20.0 - 10.0);
    SamplingParameters p;
    if (random.chance(0.5)) p.presence_penalty = static_cast<float>(random.uniform() * 4 - 2);
    if (random.chance(0.5)) p.frequency_penalty = static_cast<float>(random.uniform() * 4 - 2);
    if (random.chance(0.5)) p.repetition_penalty = static_cast<float>(0.5 + random.uniform());
    const std::vector<Token> prompt = random_text(random, logits.size());
    const std::vector<Token> answer = random_text(random, logits.size());
    TokenCounts counts;
    if (penalises_prompt(p)) counts.add_prompt(prompt);
    for (const Token token : answer) counts.add_answer(token);
    const std::vector<float> expected = naive_penalties(logits, p, prompt, answer);
    apply_penalties(logits, p, counts.seen());
    for (std::size_t i = 0; i < logits.size(); ++i) EXPECT_FLOAT_EQ(logits[i], expected[i]) << i;
  }
}

TEST(Penalties, KnowWhetherTheyAreUsed) {
  EXPECT_FALSE(uses_penalties({}));
  EXPECT_TRUE(uses_penalties({.presence_penalty = 0.1f}));
  EXPECT_TRUE(uses_penalties({.frequency_penalty = -0.1f}));
  EXPECT_TRUE(uses_penalties({.repetition_penalty = 1.1f}));
  EXPECT_FALSE(penalises_prompt({.presence_penalty = 1.0f, .frequency_penalty = 1.0f}));
  EXPECT_TRUE(penalises_prompt({.repetition_penalty = 0.9f}));
}

TEST(Penalties, ListEachTokenOnceWithItsCountInTheAnswer) {
  TokenCounts counts;
  counts.add_prompt(std::vector<Token>{5, 6, 5});
  for (const Token token : {6, 9, 9}) counts.add_answer(token);
  ASSERT_EQ(counts.seen().size(), 3u);
  EXPECT_EQ(counts.seen()[0].token, 5);
  EXPECT_EQ(counts.seen()[0].in_answer, 0u);
  EXPECT_EQ(counts.seen()[1].in_answer, 1u);
  EXPECT_EQ(counts.seen()[2].in_answer, 2u);
}

TEST(Penalties, LeaveBannedTokensBannedAndForeignTokensAlone) {
  std::vector<float> logits{-std::numeric_limits<float>::infinity(), 1.0f};
  apply_penalties(logits, {.repetition_penalty = 0.5f},
                  std::vector<TokenCount>{{0, 1}, {7, 1}, {-3, 1}});
  EXPECT_EQ(logits[0], -std::numeric_limits<float>::infinity());
  EXPECT_EQ(logits[1], 1.0f);
}

// A bias says what the client wants in the end, so it comes after the penalties.
TEST(Penalties, AreAppliedBeforeTheLogitBias) {
  SamplingParameters parameters{.temperature = 0, .repetition_penalty = 2.0f};
  parameters.logit_bias = {{0, 3.0f}};
  std::vector<float> logits{4.0f, 4.5f};  // 4/2 + 3 wins; (4 + 3)/2 would lose
  Sampler sampler;
  Random random(1);
  const std::vector<TokenCount> seen{{0, 1}};
  EXPECT_EQ(sampler.sample(logits, {parameters, seen}, random), 0);
}

}  // namespace
}  // namespace zerohop

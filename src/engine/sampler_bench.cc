// Cost of one sampled token at the default model's vocabulary. The budget is 3 % of a step at batch
// 8: about 110 µs of a 30 ms step for each of the eight.

#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "constrain/grammar_machine.h"
#include "engine/sampler.h"
#include "engine/token_chances.h"

namespace zerohop {
namespace {

constexpr std::size_t kVocabulary = 49152;

std::vector<float> model_like_logits() {
  Random random(1);
  std::vector<float> logits(kVocabulary);
  for (float& logit : logits) logit = static_cast<float>(random.uniform() * 14.0 - 6.0);
  for (int i = 0; i < 40; ++i) {
    logits[random.below(kVocabulary)] = static_cast<float>(10.0 + random.uniform() * 8.0);
  }
  return logits;
}

void sample(benchmark::State& state, const SamplingParameters& parameters) {
  std::vector<float> logits = model_like_logits();
  Sampler sampler;
  Random random(2);
  for (auto _ : state) benchmark::DoNotOptimize(sampler.sample(logits, {parameters}, random));
}

void BM_Greedy(benchmark::State& state) { sample(state, {.temperature = 0}); }
void BM_Temperature(benchmark::State& state) { sample(state, {.temperature = 0.8f}); }
void BM_TopP(benchmark::State& state) { sample(state, {.temperature = 0.8f, .top_p = 0.95f}); }
void BM_TopKTopPMinP(benchmark::State& state) {
  sample(state, {.temperature = 0.8f, .top_p = 0.95f, .min_p = 0.05f, .top_k = 40});
}

// An answer of 400 distinct tokens behind a prompt of 1,600.
void BM_Penalties(benchmark::State& state) {
  const SamplingParameters parameters{.temperature = 0.8f, .repetition_penalty = 1.1f};
  std::vector<float> logits = model_like_logits();
  TokenCounts counts;
  Random random(3);
  for (int i = 0; i < 1600; ++i) {
    counts.add_prompt(std::vector<Token>{static_cast<Token>(random.below(kVocabulary))});
  }
  for (int i = 0; i < 400; ++i) counts.add_answer(static_cast<Token>(random.below(kVocabulary)));
  Sampler sampler;
  for (auto _ : state) {
    benchmark::DoNotOptimize(sampler.sample(logits, {parameters, counts.seen()}, random));
  }
}

// What a request for twenty log-probabilities adds.
void BM_LogProbabilities(benchmark::State& state) {
  const std::vector<float> logits = model_like_logits();
  TokenChances chances;
  for (auto _ : state) {
    chances.read(logits, 20);
    benchmark::DoNotOptimize(chances);
  }
}

// A token that a constraint does not allow, and the draw among the 47,000 that it does. The mask is
// there: the same one serves every string.
void BM_DrawAgainAmongMany(benchmark::State& state) {
  std::vector<std::string> texts;
  for (unsigned byte = 0; byte < 256; ++byte) texts.emplace_back(1, static_cast<char>(byte));
  Random random(4);
  while (texts.size() < kVocabulary) {
    std::string text;
    for (std::uint64_t left = 2 + random.below(6); left > 0; --left) {
      text.push_back(static_cast<char>('a' + random.below(26)));
    }
    texts.push_back(std::move(text));
  }
  const Token refused = 'q';
  const auto tokens = std::make_shared<const TokenTrie>(texts, std::vector<Token>{}, kVocabulary);
  MaskCache masks(tokens, std::size_t{1} << 20);
  const auto live = std::make_shared<LiveMachine>(make_regex_machine("[^q][^]*").value(), 1);
  ConstraintSession session({.machine = live, .masks = &masks, .tokens_max = 1'000});
  const std::vector<float> logits = [&] {
    std::vector<float> made = model_like_logits();
    made[static_cast<std::size_t>(refused)] = 30;  // nearly always drawn first
    return made;
  }();
  const SamplingParameters parameters{.temperature = 0.8f};
  const SampleInput input{.parameters = parameters, .constraint = &session};
  Sampler sampler;
  std::vector<float> copy;
  for (auto _ : state) {
    copy = logits;
    benchmark::DoNotOptimize(sampler.sample(copy, input, random));
  }
}

// The same weights with the standard library, for comparison.
void BM_StdExp(benchmark::State& state) {
  const std::vector<float> logits = model_like_logits();
  std::vector<float> weights(kVocabulary);
  for (auto _ : state) {
    for (std::size_t i = 0; i < kVocabulary; ++i) weights[i] = std::exp(logits[i] - 18.0f);
    benchmark::DoNotOptimize(weights.data());
  }
}

BENCHMARK(BM_Greedy);
BENCHMARK(BM_Temperature);
BENCHMARK(BM_TopP);
BENCHMARK(BM_TopKTopPMinP);
BENCHMARK(BM_Penalties);
BENCHMARK(BM_LogProbabilities);
BENCHMARK(BM_DrawAgainAmongMany);
BENCHMARK(BM_StdExp);

}  // namespace
}  // namespace zerohop

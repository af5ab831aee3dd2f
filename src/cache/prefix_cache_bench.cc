// Costs of the prefix cache. Budgets: a lookup among 100,000 cached tokens in 1,000 entries 5 µs;
// all that is done for a decode step of eight sequences without hits 0.5 % of some 5 ms, that is 25
// µs.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "base/random.h"
#include "cache/prefix_cache.h"

namespace zerohop {
namespace {

constexpr Token kVocabulary = 49152;

KvCapabilities pool(std::uint32_t cells) {
  KvCapabilities capabilities;
  capabilities.slots = 255;
  capabilities.sequences = 8;
  capabilities.slot_cells = 8192;
  capabilities.cells = cells;
  capabilities.pooled = true;
  capabilities.can_share_range = true;
  capabilities.can_save_range = true;
  capabilities.bytes_per_cell = 23040;
  return capabilities;
}

PrefixCacheOptions host_tier() {
  PrefixCacheOptions options;
  options.host_bytes_max = std::uint64_t{1} << 50;
  return options;
}

std::vector<Token> random_tokens(Random& random, std::size_t count) {
  std::vector<Token> tokens(count);
  for (Token& token : tokens) token = static_cast<Token>(random.below(kVocabulary));
  return tokens;
}

// `entries` prompts that have their first `shared` tokens in common, all in host memory.
std::vector<std::vector<Token>> fill(PrefixCache& cache, std::size_t entries, std::size_t shared,
                                     std::size_t own) {
  Random random(1);
  const std::vector<Token> common = random_tokens(random, shared);
  std::vector<std::vector<Token>> prompts;
  for (std::size_t i = 0; i < entries; ++i) {
    std::vector<Token> prompt = common;
    const std::vector<Token> rest = random_tokens(random, own);
    prompt.insert(prompt.end(), rest.begin(), rest.end());
    benchmark::DoNotOptimize(cache.adopt(kPublicScope, prompt, prompt.size() * 23040));
    prompt.push_back(0);
    prompts.push_back(std::move(prompt));
  }
  return prompts;
}

void look_up(benchmark::State& state, std::size_t entries, std::size_t shared, std::size_t own) {
  PrefixCache cache(pool(65536), host_tier());
  const auto prompts = fill(cache, entries, shared, own);
  Random random(2);
  for (auto _ : state) {
    const auto& prompt = prompts[random.below(prompts.size())];
    benchmark::DoNotOptimize(cache.match(kPublicScope, prompt));
  }
  state.counters["tokens"] = static_cast<double>(cache.counts().tokens_indexed);
  state.counters["edges"] = static_cast<double>(cache.counts().edges);
}

// 1,000 entries with nothing in common, 1,000 sessions that part after a system prompt, and 100,000
// entries.
void BM_LookUpHostTier(benchmark::State& state) { look_up(state, 1000, 0, 100); }
void BM_LookUpSharedSystemPrompt(benchmark::State& state) { look_up(state, 1000, 1000, 99); }
void BM_LookUpManyEntries(benchmark::State& state) { look_up(state, 100000, 0, 50); }

// One decode step of eight sequences whose prompts nobody has seen: the books alone.
void BM_GrowEightSequences(benchmark::State& state) {
  PrefixCache cache(pool(65536), host_tier());
  Random random(3);
  std::vector<SlotId> slots;
  const auto begin = [&] {
    for (int i = 0; i < 8; ++i) {
      const std::vector<Token> prompt = random_tokens(random, 64);
      const PlaceResult result = cache.place({.tokens = prompt, .cells_ahead = 8000});
      cache.grow(result.placement->slot, prompt, {});
      slots.push_back(result.placement->slot);
    }
  };
  begin();
  std::size_t steps = 0;
  for (auto _ : state) {
    if (++steps % 8000 == 0) {
      state.PauseTiming();
      for (const SlotId slot : slots) {
        benchmark::DoNotOptimize(cache.release(slot, Keep::kNothing, {}));
      }
      slots.clear();
      begin();
      state.ResumeTiming();
    }
    for (const SlotId slot : slots) {
      const Token token = static_cast<Token>(steps);
      cache.grow(slot, TokenSpan(&token, 1), {});
    }
  }
}

// The same with a promise for each token, as the engine asks for it.
void BM_ReserveAndGrowEightSequences(benchmark::State& state) {
  PrefixCache cache(pool(65536), host_tier());
  Random random(3);
  std::vector<SlotId> slots;
  for (int i = 0; i < 8; ++i) {
    const std::vector<Token> prompt = random_tokens(random, 64);
    const PlaceResult result = cache.place({.tokens = prompt});
    cache.grow(result.placement->slot, prompt, {});
    slots.push_back(result.placement->slot);
  }
  std::size_t steps = 0;
  for (auto _ : state) {
    if (++steps % 8000 == 0) {
      state.PauseTiming();
      for (const SlotId slot : slots) cache.correct(slot, 0);
      state.ResumeTiming();
    }
    for (const SlotId slot : slots) {
      const Token token = static_cast<Token>(steps);
      benchmark::DoNotOptimize(cache.reserve(slot, 1, {}));
      cache.grow(slot, TokenSpan(&token, 1), {});
    }
  }
}

// A request of 500 tokens from begin to end, in a full cache where nothing is ever found.
void BM_PlaceAndReleaseWithoutHits(benchmark::State& state) {
  PrefixCacheOptions options;
  options.host_bytes_max = state.range(0) != 0 ? std::uint64_t{1} << 33 : 0;
  PrefixCache cache(pool(16384), options);
  Random random(4);
  std::vector<std::vector<Token>> prompts;
  for (int i = 0; i < 2000; ++i) prompts.push_back(random_tokens(random, 500));
  std::size_t next = 0;
  for (auto _ : state) {
    std::vector<Token>& prompt = prompts[next++ % prompts.size()];
    prompt[0] = static_cast<Token>(next);
    PlaceResult result = cache.place({.tokens = prompt, .cells_ahead = 64});
    for (const CacheOp& op : result.placement->plan) {
      const auto* save = std::get_if<SaveRange>(&op);
      if (save != nullptr) {
        const auto bytes = static_cast<std::uint64_t>(save->range.size()) * 23040;
        benchmark::DoNotOptimize(cache.saved(save->blob, bytes));
      }
    }
    cache.grow(result.placement->slot, prompt, {});
    benchmark::DoNotOptimize(cache.release(result.placement->slot, Keep::kCells, {}));
  }
}

// Eviction from a host tier with 100,000 edges: each request saves one state and forgets another.
void BM_EvictAmongManyEdges(benchmark::State& state) {
  constexpr std::size_t kEntries = 100000;
  PrefixCacheOptions options = host_tier();
  options.host_entries_max = kEntries;
  PrefixCache cache(pool(8192), options);
  fill(cache, kEntries, 0, 50);
  Random random(5);
  std::vector<Token> prompt = random_tokens(random, 500);
  std::size_t next = 0;
  for (auto _ : state) {
    prompt[0] = static_cast<Token>(++next);
    prompt[1] = static_cast<Token>(next / kVocabulary);
    PlaceResult result = cache.place({.tokens = prompt, .cells_ahead = 64});
    cache.grow(result.placement->slot, prompt, {});
    benchmark::DoNotOptimize(cache.release(result.placement->slot, Keep::kCells, {}));
  }
  state.counters["forgotten"] = static_cast<double>(cache.counts().tokens_forgotten);
}

// What the engine publishes after each step.
void BM_Counts(benchmark::State& state) {
  PrefixCache cache(pool(65536), host_tier());
  Random random(6);
  for (int i = 0; i < 200; ++i) {
    const std::vector<Token> prompt = random_tokens(random, 100);
    const PlaceResult result = cache.place({.tokens = prompt});
    cache.grow(result.placement->slot, prompt, {});
    benchmark::DoNotOptimize(cache.release(result.placement->slot, Keep::kCells, {}));
  }
  for (auto _ : state) benchmark::DoNotOptimize(cache.counts());
}

BENCHMARK(BM_LookUpHostTier);
BENCHMARK(BM_LookUpSharedSystemPrompt);
BENCHMARK(BM_LookUpManyEntries);
BENCHMARK(BM_GrowEightSequences);
BENCHMARK(BM_ReserveAndGrowEightSequences);
BENCHMARK(BM_PlaceAndReleaseWithoutHits)->Arg(0)->Arg(1);
BENCHMARK(BM_EvictAmongManyEdges);
BENCHMARK(BM_Counts);

}  // namespace
}  // namespace zerohop

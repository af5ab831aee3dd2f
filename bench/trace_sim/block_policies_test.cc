#include "trace_sim/block_policies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/random.h"

namespace zerohop::trace_sim {
namespace {

BlockTrace trace_of(std::vector<std::vector<std::uint32_t>> prompts) {
  BlockTrace trace;
  for (std::vector<std::uint32_t>& blocks : prompts) {
    trace.push_back({static_cast<double>(trace.size()), 0, 0, std::move(blocks)});
  }
  return trace;
}

// The most hits that any choice of victims can have, by trying all of them. One block a prompt.
std::uint64_t best_of_all(const BlockTrace& trace, std::size_t capacity) {
  std::function<std::uint64_t(std::size_t, std::set<std::uint32_t>)> best =
      [&](std::size_t time, std::set<std::uint32_t> cached) -> std::uint64_t {
    if (time == trace.size()) return 0;
    const std::uint32_t block = trace[time].blocks.front();
    const std::uint64_t hit = cached.contains(block) ? 1 : 0;
    cached.insert(block);
    if (cached.size() <= capacity) return hit + best(time + 1, cached);
    std::uint64_t most = 0;
    for (const std::uint32_t victim : cached) {
      std::set<std::uint32_t> rest = cached;
      rest.erase(victim);
      most = std::max(most, best(time + 1, rest));
    }
    return hit + most;
  };
  return best(0, {});
}

TEST(BlockPolicies, CountsTheWorkingSetAndWhatAnUnlimitedCacheHits) {
  const TraceSize size = measure(trace_of({{0, 1, 2}, {0, 1, 3}, {4}, {0, 1, 3, 5}}));
  EXPECT_EQ(size.blocks, 11u);
  EXPECT_EQ(size.distinct, 6u);
  EXPECT_EQ(size.ceiling, 5u);
}

TEST(BlockPolicies, HitsEverythingWhenThereIsRoom) {
  const BlockTrace trace = trace_of({{0, 1, 2}, {0, 1, 3}, {4}, {0, 1, 3, 5}});
  EXPECT_EQ(recency_hits(trace, 6), 5u);
  EXPECT_EQ(optimum_hits(trace, 6), 5u);
}

TEST(BlockPolicies, RecencyDropsTheTailOfTheOldestPromptFirst) {
  // 2 goes for 3, then 1 for 4: what is left of the first prompt is its head.
  EXPECT_EQ(recency_hits(trace_of({{0, 1, 2}, {3}, {4}, {0, 1, 2}}), 3), 1u);
  EXPECT_EQ(optimum_hits(trace_of({{0, 1, 2}, {3}, {4}, {0, 1, 2}}), 3), 3u);
}

TEST(BlockPolicies, NothingBeatsTheOptimum) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::vector<std::uint32_t>> prompts;
    for (int i = 0; i < 9; ++i) prompts.push_back({static_cast<std::uint32_t>(random.below(4))});
    const BlockTrace trace = trace_of(std::move(prompts));
    EXPECT_EQ(optimum_hits(trace, 2), best_of_all(trace, 2)) << round;
    EXPECT_LE(recency_hits(trace, 2), optimum_hits(trace, 2));
  }
}

}  // namespace
}  // namespace zerohop::trace_sim

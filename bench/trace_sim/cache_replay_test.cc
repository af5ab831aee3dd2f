#include "trace_sim/cache_replay.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "trace_sim/block_policies.h"

namespace zerohop::trace_sim {
namespace {

// Prompts that come back again and again, between others that never do.
BlockTrace with_scans(std::uint64_t seed) {
  Random random(seed);
  BlockTrace trace;
  std::uint32_t unseen = 1'000'000;
  for (int i = 0; i < 6000; ++i) {
    BlockRequest request;
    request.seconds = i;
    if (random.chance(0.3)) {
      const auto document = static_cast<std::uint32_t>(random.below(40));
      for (std::uint32_t b = 0; b < 8; ++b) request.blocks.push_back(document * 8 + b);
    } else {
      for (std::uint32_t b = 0; b < 8; ++b) request.blocks.push_back(unseen++);
    }
    trace.push_back(std::move(request));
  }
  return trace;
}

// Conversations of some turns: what was used last is what is used next.
BlockTrace conversations(std::uint64_t seed) {
  Random random(seed);
  BlockTrace trace;
  std::vector<std::vector<std::uint32_t>> open(20);
  std::uint32_t unseen = 0;
  for (int i = 0; i < 6000; ++i) {
    std::vector<std::uint32_t>& conversation = open[random.below(open.size())];
    if (conversation.size() > 40 || random.chance(0.1)) conversation.clear();
    for (int b = 0; b < 2; ++b) conversation.push_back(unseen++);
    trace.push_back({static_cast<double>(i), 0, 0, conversation});
  }
  return trace;
}

double share(const BlockTrace& trace, std::uint64_t capacity_blocks, EvictionOrder order) {
  CacheReplayOptions options;
  options.capacity_blocks = capacity_blocks;
  options.order = order;
  const CacheReplay replayed = replay(trace, options);
  EXPECT_EQ(replayed.requests_refused, 0u);
  return replayed.hit_blocks / static_cast<double>(measure(trace).ceiling);
}

TEST(CacheReplay, FindsEverythingWhenThereIsRoom) {
  const BlockTrace trace = conversations(1);
  const std::uint64_t room = measure(trace).distinct;
  EXPECT_DOUBLE_EQ(share(trace, room, EvictionOrder::kExpectedReuse), 1);
  EXPECT_DOUBLE_EQ(share(trace, room, EvictionOrder::kLeastRecent), 1);
}

TEST(CacheReplay, AgreesWithAnExactLruWhenAskedForRecency) {
  const BlockTrace trace = with_scans(2);
  for (const std::uint64_t capacity : {200u, 400u, 800u}) {
    const double exact = static_cast<double>(recency_hits(trace, capacity)) /
                         static_cast<double>(measure(trace).ceiling);
    EXPECT_NEAR(share(trace, capacity, EvictionOrder::kLeastRecent), exact, 0.01) << capacity;
  }
}

TEST(CacheReplay, ExpectedReuseIsAsGoodAsRecencyWhereRecencyIsRight) {
  for (const std::uint64_t seed : {3u, 4u}) {
    const BlockTrace trace = conversations(seed);
    for (const std::uint64_t capacity : {100u, 200u, 400u}) {
      const double recent = share(trace, capacity, EvictionOrder::kLeastRecent);
      EXPECT_GE(share(trace, capacity, EvictionOrder::kExpectedReuse), 0.99 * recent)
          << "seed " << seed << ", " << capacity << " blocks";
    }
  }
}

TEST(CacheReplay, ExpectedReuseKeepsWhatComesBackWhenScansPassThrough) {
  const BlockTrace trace = with_scans(5);
  const double recent = share(trace, 400, EvictionOrder::kLeastRecent);
  EXPECT_LT(recent, 0.5);
  EXPECT_GT(share(trace, 400, EvictionOrder::kExpectedReuse), recent + 0.3);
}

TEST(CacheReplay, RefusesWhatIsLargerThanTheCache) {
  CacheReplayOptions options;
  options.capacity_blocks = 2;
  const CacheReplay replayed = replay({{0, 0, 0, {1, 2, 3}}, {1, 0, 0, {1}}}, options);
  EXPECT_EQ(replayed.requests_refused, 1u);
}

}  // namespace
}  // namespace zerohop::trace_sim

#include <gtest/gtest.h>

#include "cache/prefix_cache.h"
#include "cache/prefix_cache_test_kit.h"

namespace zerohop {
namespace {

using namespace prefix_cache_test;

// ---- streams ----

TEST(PrefixCacheLayouts, StreamsGiveTheLowestIdAndCopyThePrefixThere) {
  Cache cache(streams(3, 100));
  cache.start(text(1, 10));
  cache.start(text(2, 30));
  cache.release(slot(0));
  cache.release(slot(1));
  const PlaceResult next = cache.place(text(2, 30) + text(3, 5));
  ASSERT_TRUE(next.placement);
  EXPECT_EQ(next.placement->slot, slot(0));
  EXPECT_EQ(next.placement->plan, (CachePlan{DropTail{slot(0), 0}, ShareHead{slot(1), slot(0), 30},
                                             DropTail{slot(1), 0}}));
}

TEST(PrefixCacheLayouts, StreamsGoOnInTheLowestSlotWhenItHoldsThePrefix) {
  Cache cache(streams(3, 100));
  cache.run(text(1, 30));
  const PlaceResult next = cache.place(text(1, 20) + text(2, 5));
  EXPECT_EQ(next.placement->plan, (CachePlan{DropTail{slot(0), 20}}));
}

TEST(PrefixCacheLayouts, StreamsSaveWholeSlotsAndRestoreEveryPrefixOfThem) {
  Cache cache(streams(1, 100), host_tier(1000));
  cache.run(text(1, 60));
  const Placement two = cache.start(text(2, 10));
  const auto saves = ops<SaveRange>(two.plan);
  ASSERT_EQ(saves.size(), 1u);
  EXPECT_EQ(saves[0].range, (PositionRange{0, 60}));
  cache.release(two.slot);
  const PlaceResult back = cache.place(text(1, 40) + text(3, 5));
  EXPECT_EQ(back.placement->tokens_restored, 40);
  EXPECT_EQ(ops<RestoreRange>(back.placement->plan).at(0).range, (PositionRange{0, 60}));
  EXPECT_EQ(back.placement->plan.back(), CacheOp(DropTail{slot(0), 40}));
}

TEST(PrefixCacheLayouts, StreamsMoveTheHighestRunningSlotIntoTheLowestHole) {
  Cache cache(streams(3, 100));
  cache.start(text(1, 10));
  cache.start(text(2, 20));
  cache.start(text(3, 30));
  cache.release(slot(0), Keep::kNothing);
  EXPECT_TRUE(cache->compact(29).moves.empty()) << "more cells than it may move";
  const Compaction slice = cache->compact(30);
  cache->check_integrity();
  EXPECT_EQ(slice.plan, (CachePlan{ShareHead{slot(2), slot(0), 30}, DropTail{slot(2), 0}}));
  EXPECT_EQ(slice.moves, (std::vector<SlotMove>{{slot(2), slot(0)}}));
  EXPECT_EQ(cache->held(slot(0)), 30);
  EXPECT_TRUE(cache->compact(1000).moves.empty()) << "dense";
}

TEST(PrefixCacheLayouts, StreamsTakeTheLowestHoleThatTheSlicePaysFor) {
  Cache cache(streams(4, 100), host_tier(1000));
  for (Token i = 0; i < 4; ++i) cache.start(text(i, 20));
  cache.release(slot(0));  // stays parked
  cache.release(slot(1), Keep::kNothing);
  const Compaction slice = cache->compact(30);
  EXPECT_EQ(slice.moves, (std::vector<SlotMove>{{slot(3), slot(1)}}));
  EXPECT_EQ(slice.cells, 20u);
  EXPECT_EQ(cache->compact(40).cells, 40u) << "what is parked in the hole is saved";
}

// ---- nothing can be cut ----

TEST(PrefixCacheLayouts, WithoutCutsOnlyAWholeContentIsReused) {
  Cache cache(without_cuts(2, 100));
  cache.run(text(1, 40));
  EXPECT_EQ(cache.found(text(1, 30)), 0);
  EXPECT_EQ(cache.found(text(1, 40) + text(2, 5)), 40);
  const PlaceResult next = cache.place(text(1, 40) + text(2, 5));
  EXPECT_EQ(next.placement->tokens_reused, 40);
  EXPECT_TRUE(next.placement->plan.empty());
}

TEST(PrefixCacheLayouts, WithoutCutsACheckpointKeepsThePromptReusable) {
  Cache cache(without_cuts(1, 200), host_tier(1000));
  const Placement one = cache.start(text(1, 40), {.ahead = 50});
  const CachePlan saved = cache->checkpoint(one.slot, cache.now);
  ASSERT_EQ(ops<SaveRange>(saved).size(), 1u);
  EXPECT_TRUE(cache->checkpoint(one.slot, cache.now).empty()) << "it is there already";
  cache.grow(one.slot, text(2, 50));
  cache.release(one.slot);
  const PlaceResult other = cache.place(text(1, 40) + text(3, 10));
  EXPECT_EQ(other.placement->tokens_restored, 40);
}

TEST(PrefixCacheLayouts, WhereTailsCanBeCutThereAreNoCheckpoints) {
  Cache cache(pool(2, 2, 200), host_tier(1000));
  const Placement one = cache.start(text(1, 40));
  EXPECT_TRUE(cache->checkpoint(one.slot, cache.now).empty());
}

TEST(PrefixCacheLayouts, WithoutCutsAFailedSequenceLosesAll) {
  Cache cache(without_cuts(2, 100));
  cache.run(text(1, 40));
  const Placement failed = cache.start(text(1, 40) + text(2, 5));
  EXPECT_EQ(cache.release(failed.slot, Keep::kNothing), (CachePlan{DropTail{failed.slot, 0}}));
}

}  // namespace
}  // namespace zerohop

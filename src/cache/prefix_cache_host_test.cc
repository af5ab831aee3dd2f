#include <gtest/gtest.h>

#include <algorithm>

#include "cache/prefix_cache.h"
#include "cache/prefix_cache_test_kit.h"

namespace zerohop {
namespace {

using namespace prefix_cache_test;

// ---- host tier ----

TEST(PrefixCacheHostTier, SavesAnEdgeBeforeItsCellsGo) {
  Cache cache(pool(6, 2, 100), host_tier(1000));
  cache.run(text(1, 60));
  const Placement two = cache.start(text(2, 60));
  ASSERT_EQ(two.plan.size(), 2u);
  const auto saves = ops<SaveRange>(two.plan);
  ASSERT_EQ(saves.size(), 1u);
  EXPECT_EQ(saves[0].range, (PositionRange{0, 60}));
  EXPECT_EQ(two.plan[1], CacheOp(DropTail{slot(0), 0}));
  EXPECT_EQ(cache.found_in_cells(text(1, 60)), 0);
  EXPECT_EQ(cache.found(text(1, 60)), 60);
  EXPECT_EQ(cache->counts().host_bytes, 600u);
  EXPECT_EQ(cache->counts().tokens_saved, 60u);
}

TEST(PrefixCacheHostTier, RestoresWhatHostMemoryHolds) {
  Cache cache(pool(6, 2, 100), host_tier(1000));
  cache.run(text(1, 60));
  cache.run(text(2, 60));
  const PlaceResult back = cache.place(text(1, 60) + text(3, 5));
  ASSERT_TRUE(back.placement);
  EXPECT_EQ(back.placement->tokens_reused, 60);
  EXPECT_EQ(back.placement->tokens_restored, 60);
  const auto restores = ops<RestoreRange>(back.placement->plan);
  ASSERT_EQ(restores.size(), 1u);
  EXPECT_EQ(restores[0].range, (PositionRange{0, 60}));
  EXPECT_EQ(cache->counts().tokens_restored, 60u);
}

TEST(PrefixCacheHostTier, RestoresBehindWhatIsInCells) {
  Cache cache(pool(6, 3, 200), host_tier(1000));
  cache.run(text(1, 50) + text(2, 50));
  cache.run(text(1, 50) + text(3, 50));
  cache.release(cache.start(text(4, 100)).slot, Keep::kNothing);
  ASSERT_EQ(cache.found_in_cells(text(1, 50) + text(2, 50)), 50);
  const PlaceResult back = cache.place(text(1, 50) + text(2, 50) + text(5, 1));
  ASSERT_TRUE(back.placement);
  EXPECT_EQ(ops<ShareHead>(back.placement->plan).size(), 1u);
  const auto restores = ops<RestoreRange>(back.placement->plan);
  ASSERT_EQ(restores.size(), 1u);
  EXPECT_EQ(restores[0].range, (PositionRange{50, 100}));
}

TEST(PrefixCacheHostTier, RestoresAPartOfASavedState) {
  Cache cache(pool(6, 2, 100), host_tier(1000));
  cache.run(text(1, 60));
  cache.run(text(2, 60));
  const PlaceResult back = cache.place(text(1, 40) + text(3, 5));
  ASSERT_TRUE(back.placement);
  const auto restores = ops<RestoreRange>(back.placement->plan);
  ASSERT_EQ(restores.size(), 1u);
  EXPECT_EQ(restores[0].range, (PositionRange{0, 40}));
}

TEST(PrefixCacheHostTier, DoesNotRestoreAFewTokens) {
  Cache cache(pool(6, 2, 100), host_tier(1000));
  cache.run(text(1, 60));
  cache.run(text(2, 60));
  const PlaceResult back = cache.place(text(1, 15) + text(3, 5));
  ASSERT_TRUE(back.placement);
  EXPECT_EQ(back.placement->tokens_reused, 0);
}

TEST(PrefixCacheHostTier, SavesAnEdgeOnlyOnce) {
  Cache cache(pool(6, 2, 100), host_tier(1000));
  cache.run(text(1, 60));
  cache.run(text(2, 60));
  cache.run(text(1, 60) + text(3, 1));
  const Placement again = cache.start(text(4, 100));
  for (const SaveRange& save : ops<SaveRange>(again.plan)) EXPECT_GE(save.range.begin, 60);
}

TEST(PrefixCacheHostTier, DropsEdgesTooSmallForAStateOfTheirOwn) {
  Cache cache(pool(6, 2, 100), host_tier(1000));
  cache.run(text(1, 20));
  const Placement two = cache.start(text(2, 90));
  EXPECT_TRUE(ops<SaveRange>(two.plan).empty());
  EXPECT_EQ(cache.found(text(1, 20)), 10);
}

TEST(PrefixCacheHostTier, SavesASmallEdgeTogetherWithTheOneAboveIt) {
  Cache cache(pool(6, 2, 100), host_tier(1000));
  const Placement one = cache.start(text(1, 50), {.ahead = 10});
  cache.grow(one.slot, text(2, 10));
  cache.release(one.slot);
  const Placement two = cache.start(text(3, 90));
  const auto saves = ops<SaveRange>(two.plan);
  ASSERT_EQ(saves.size(), 1u);
  EXPECT_EQ(saves[0].range, (PositionRange{0, 60}));
}

TEST(PrefixCacheHostTier, ForgetsTheLessWorthyWhenHostMemoryIsFull) {
  PrefixCacheOptions options = host_tier(100);
  options.order = EvictionOrder::kLeastRecent;
  Cache cache(pool(6, 2, 100), options);
  cache.run(text(1, 60));
  cache.run(text(2, 60));
  const Placement three = cache.start(text(3, 60));
  EXPECT_EQ(ops<ForgetBlob>(three.plan).size(), 1u);
  EXPECT_EQ(cache.found(text(1, 60)), 0);
  EXPECT_EQ(cache.found(text(2, 60)), 60);
  EXPECT_EQ(cache->last_cap(), CacheCap::kHostBytes);
  EXPECT_EQ(cache->counts().tokens_forgotten, 60u);
}

TEST(PrefixCacheHostTier, HoldsTheCapOfEntries) {
  PrefixCacheOptions options = host_tier(100000, 1);
  options.order = EvictionOrder::kLeastRecent;
  Cache cache(pool(6, 2, 100), options);
  for (Token seed = 1; seed <= 5; ++seed) cache.run(text(seed, 60));
  EXPECT_EQ(cache->counts().host_entries, 1u);
  EXPECT_EQ(cache->last_cap(), CacheCap::kHostEntries);
}

TEST(PrefixCacheHostTier, ForgetsAtOnceWhenAStateIsLargerThanPlanned) {
  Cache cache(pool(6, 2, 100), host_tier(130));
  cache.run(text(1, 60));
  cache.run(text(2, 60));
  const Placement three = cache.start(text(3, 60));
  const auto saves = ops<SaveRange>(three.plan);
  ASSERT_EQ(saves.size(), 1u);
  EXPECT_EQ(cache->counts().host_entries, 2u);
  const CachePlan plan = cache->saved(saves[0].blob, 900);
  cache->check_integrity();
  EXPECT_EQ(ops<ForgetBlob>(plan).size(), 1u);
  EXPECT_LE(cache->counts().host_bytes, 1300u);
}

TEST(PrefixCacheHostTier, ForgetsNoStateThatOthersNeedToBeReached) {
  PrefixCacheOptions options = host_tier(160);
  options.order = EvictionOrder::kLeastRecent;
  Cache cache(pool(6, 2, 120), options);
  cache.run(text(1, 50) + text(2, 50));
  cache.run(text(1, 50) + text(3, 50));
  cache.release(cache.start(text(4, 120)).slot, Keep::kNothing);
  ASSERT_EQ(cache->counts().host_entries, 3u);
  cache.release(cache.start(text(5, 60)).slot);
  cache.start(text(6, 110));
  EXPECT_EQ(cache.found(text(1, 50)), 50) << "older, but in front of a newer one";
  EXPECT_EQ(cache.found(text(1, 50) + text(2, 50)), 50);
  EXPECT_EQ(cache.found(text(1, 50) + text(3, 50)), 100);
}

TEST(PrefixCacheHostTier, MarksOfOneScopeProtectAtMostHalfOfTheBytes) {
  PrefixCacheOptions options = host_tier(200);
  options.order = EvictionOrder::kLeastRecent;
  Cache cache(pool(6, 2, 100), options);
  const Wish greedy{.scope = ScopeId(7), .marked = 100, .lifetime = std::chrono::seconds(300)};
  const Wish modest{.scope = ScopeId(8), .marked = 100, .lifetime = std::chrono::seconds(300)};
  cache.run(text(9, 60), modest);
  for (Token seed = 1; seed <= 5; ++seed) cache.run(text(seed, 60), greedy);
  EXPECT_EQ(cache.found(text(9, 60), ScopeId(8)), 60) << "oldest of all, but within its share";
}

TEST(PrefixCacheHostTier, BytesOfAStateThatIsForgottenMeanwhileAreFreed) {
  Cache cache(pool(6, 2, 100), host_tier(1000));
  EXPECT_EQ(cache->saved(BlobId(99), 500), (CachePlan{ForgetBlob{BlobId(99)}}));
  EXPECT_EQ(cache->counts().host_bytes, 0u);
}

TEST(PrefixCacheHostTier, ALostStateIsNotFoundAgain) {
  Cache cache(pool(6, 2, 100), host_tier(1000));
  cache.run(text(1, 60));
  const Placement two = cache.start(text(2, 60));
  cache->lost(ops<SaveRange>(two.plan).at(0).blob);
  cache->check_integrity();
  EXPECT_EQ(cache.found(text(1, 60)), 0);
  EXPECT_EQ(cache->counts().host_entries, 0u);
}

TEST(PrefixCacheHostTier, WhatIsBehindALostStateIsFoundAgainOnceItIsComputed) {
  PrefixCacheOptions options = host_tier(1000);
  options.order = EvictionOrder::kLeastRecent;
  Cache cache(pool(6, 2, 150), options);
  cache.run(text(1, 50) + text(2, 50));
  cache.run(text(1, 50) + text(3, 10));
  const Placement big = cache.start(text(4, 150));
  const auto saves = ops<SaveRange>(big.plan);
  const auto head = std::find_if(saves.begin(), saves.end(),
                                 [](const SaveRange& save) { return save.range.begin == 0; });
  ASSERT_NE(head, saves.end());
  cache->lost(head->blob);
  EXPECT_EQ(cache.found(text(1, 50) + text(2, 50)), 0);
  cache.release(big.slot, Keep::kNothing);
  cache.start(text(1, 50));
  EXPECT_EQ(cache.found(text(1, 50) + text(2, 50)), 100);
}

TEST(PrefixCacheHostTier, ParksIdleCellsInHostMemoryAsFarAsItHasRoom) {
  Cache cache(pool(6, 2, 200), host_tier(70));
  cache.run(text(1, 60));
  cache.run(text(2, 60));
  const CachePlan plan = cache->park_idle(120, cache.now);
  cache->check_integrity();
  EXPECT_EQ(ops<SaveRange>(plan).size(), 1u);
  EXPECT_EQ(cache->counts().cells_parked, 60u);
  EXPECT_EQ(cache.found(text(1, 60)) + cache.found(text(2, 60)), 120);
}

TEST(PrefixCacheHostTier, CompressesStatesOnce) {
  Cache cache(pool(6, 2, 100), host_tier(1000));
  cache.run(text(1, 60));
  const Placement two = cache.start(text(2, 60));
  const BlobId blob = ops<SaveRange>(two.plan).at(0).blob;
  EXPECT_TRUE(cache->saved(blob, 600).empty());
  EXPECT_EQ(cache->compress(1), (CachePlan{CompressBlob{blob}}));
  EXPECT_TRUE(cache->saved(blob, 320).empty());
  EXPECT_EQ(cache->counts().host_bytes, 320u);
  EXPECT_TRUE(cache->compress(1).empty());
}

TEST(PrefixCacheHostTier, AdoptsAStateFromAnEarlierRun) {
  Cache cache(pool(6, 2, 100), host_tier(1000));
  const auto blob = cache->adopt(kPublicScope, text(1, 50), 480);
  cache->check_integrity();
  ASSERT_TRUE(blob);
  EXPECT_EQ(cache->counts().host_bytes, 480u);
  const PlaceResult result = cache.place(text(1, 50) + text(2, 5));
  EXPECT_EQ(result.placement->tokens_restored, 50);
  EXPECT_EQ(ops<RestoreRange>(result.placement->plan).at(0).blob, *blob);
}

TEST(PrefixCacheHostTier, AdoptsNothingThatDoesNotFit) {
  Cache cache(pool(6, 2, 100), host_tier(40));
  EXPECT_FALSE(cache->adopt(kPublicScope, text(1, 50), 500));
  Cache without(pool(6, 2, 100));
  EXPECT_FALSE(without->adopt(kPublicScope, text(1, 50), 1));
}

TEST(PrefixCacheHostTier, CompactionSendsTheTailWithTheHighestCellThroughHostMemory) {
  Cache cache(pool(6, 2, 200), host_tier(1000));
  cache.run(text(1, 100));
  const Compaction slice = cache->compact(40, TopCell{slot(0), 70});
  cache->check_integrity();
  ASSERT_EQ(slice.plan.size(), 3u);
  const auto saves = ops<SaveRange>(slice.plan);
  ASSERT_EQ(saves.size(), 1u);
  EXPECT_EQ(saves[0].range, (PositionRange{60, 100}));
  EXPECT_EQ(slice.plan[1], CacheOp(DropTail{slot(0), 60}));
  EXPECT_EQ(slice.plan[2], CacheOp(RestoreRange{saves[0].blob, slot(0), {60, 100}}));
  EXPECT_TRUE(slice.moves.empty());
  EXPECT_EQ(slice.cells, 40u);
  EXPECT_EQ(cache->held(slot(0)), 100);
  // The next time that state is there already, and only the rest is saved.
  cache->saved(saves[0].blob, 400);
  const Compaction more = cache->compact(90, TopCell{slot(0), 99});
  cache->check_integrity();
  const auto rest = ops<SaveRange>(more.plan);
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(more.plan, (CachePlan{SaveRange{slot(0), {10, 60}, rest[0].blob}, DropTail{slot(0), 10},
                                  RestoreRange{rest[0].blob, slot(0), {10, 60}},
                                  RestoreRange{saves[0].blob, slot(0), {60, 100}}}));
  EXPECT_EQ(more.cells, 90u);
}

TEST(PrefixCacheHostTier, CompactionMovesTheTailOfARunningSlotToo) {
  Cache cache(pool(6, 2, 200), host_tier(1000));
  cache.start(text(1, 50), {.ahead = 50});
  cache.grow(slot(0), text(2, 30));
  const Compaction slice = cache->compact(40, TopCell{slot(0), 79});
  cache->check_integrity();
  const auto saves = ops<SaveRange>(slice.plan);
  ASSERT_EQ(saves.size(), 1u);
  EXPECT_EQ(saves[0].range, (PositionRange{40, 80}));
  EXPECT_EQ(slice.plan.back(), CacheOp(RestoreRange{saves[0].blob, slot(0), {40, 80}}));
  cache->saved(saves[0].blob, 400);
  cache.grow(slot(0), text(3, 10));
  EXPECT_EQ(cache->held(slot(0)), 90);
  const Compaction next = cache->compact(60, TopCell{slot(0), 30});
  cache->check_integrity();
  EXPECT_EQ(ops<RestoreRange>(next.plan).size(), 3u);
  EXPECT_EQ(ops<DropTail>(next.plan), (std::vector<DropTail>{{slot(0), 30}}));
}

TEST(PrefixCacheHostTier, CompactionLeavesWhatASliceCannotMove) {
  Cache cache(pool(6, 3, 400), host_tier(1000));
  cache.run(text(1, 100));
  EXPECT_TRUE(cache->compact(40).plan.empty()) << "which cell is the highest is not known";
  EXPECT_TRUE(cache->compact(40, TopCell{slot(0), 59}).plan.empty()) << "too far from the end";
  EXPECT_TRUE(cache->compact(31, TopCell{slot(0), 99}).plan.empty()) << "too few for three calls";
  EXPECT_TRUE(cache->compact(40, TopCell{slot(1), 0}).plan.empty()) << "an empty slot";
  const Placement one = cache.start(text(1, 100) + text(2, 50));
  const Placement two = cache.start(text(1, 100) + text(3, 50));
  EXPECT_TRUE(cache->compact(200, TopCell{two.slot, 99}).plan.empty()) << "others hold it too";
  EXPECT_FALSE(cache->compact(200, TopCell{two.slot, 149}).plan.empty());
  cache->check_integrity();
  // Without room for the copy nothing moves.
  Cache full(pool(6, 2, 200), host_tier(20));
  full.run(text(1, 100));
  EXPECT_TRUE(full->compact(40, TopCell{slot(0), 99}).plan.empty());
  EXPECT_NE(one.slot, two.slot);
}

TEST(PrefixCacheHostTier, CompactionDoesNotMakeCellsLessPrecise) {
  Cache cache(pool(6, 2, 200), host_tier(1000));
  cache.run(text(1, 100));
  const BlobId blob = ops<SaveRange>(cache->compact(40, TopCell{slot(0), 99}).plan).at(0).blob;
  cache->saved(blob, 400);
  EXPECT_EQ(cache->compress(1), (CachePlan{CompressBlob{blob}}));
  EXPECT_TRUE(cache->compact(40, TopCell{slot(0), 99}).plan.empty());
}

TEST(PrefixCacheHostTier, CompactionHidesWhatIsNotToBeReused) {
  PrefixCacheOptions marked = host_tier(1000);
  marked.keep = KeepRule::kMarked;
  Cache cache(pool(6, 2, 200), marked);
  cache.start(text(1, 100));
  EXPECT_TRUE(cache->compact(40, TopCell{slot(0), 99}).plan.empty());
}

}  // namespace
}  // namespace zerohop

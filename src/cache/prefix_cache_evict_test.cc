#include <gtest/gtest.h>

#include "cache/prefix_cache.h"
#include "cache/prefix_cache_test_kit.h"

namespace zerohop {
namespace {

using namespace prefix_cache_test;

// ---- eviction ----

TEST(PrefixCacheEviction, EvictsTheTailOfTheLeastRecentToTheToken) {
  PrefixCacheOptions options;
  options.order = EvictionOrder::kLeastRecent;
  Cache cache(pool(4, 2, 100), options);
  cache.run(text(1, 40));
  cache.run(text(2, 40));
  const Placement three = cache.start(text(3, 30));
  EXPECT_EQ(three.plan, (CachePlan{DropTail{slot(0), 30}}));
  EXPECT_EQ(cache.found(text(1, 40)), 30);
  EXPECT_EQ(cache.found(text(2, 40)), 40);
  EXPECT_EQ(cache->counts().tokens_evicted, 10u);
  EXPECT_EQ(cache->last_cap(), CacheCap::kCells);
}

TEST(PrefixCacheEviction, AnEdgeInFrontOfOthersGoesAfterThem) {
  PrefixCacheOptions options;
  options.order = EvictionOrder::kLeastRecent;
  Cache cache(pool(6, 2, 100), options);
  cache.run(text(1, 30) + text(2, 20));
  cache.run(text(1, 30) + text(3, 20));
  cache.start(text(4, 60));
  EXPECT_EQ(cache.found(text(1, 30) + text(2, 20)), 30);
  EXPECT_EQ(cache.found(text(1, 30) + text(3, 20)), 40);
}

TEST(PrefixCacheEviction, ParkedSequencesThatGoOnAreEvictedLast) {
  PrefixCacheOptions options;
  options.order = EvictionOrder::kLeastRecent;
  Cache cache(pool(6, 2, 100), options);
  const Placement parked = cache.start(text(1, 30));
  cache.release(parked.slot, Keep::kParked);
  cache.run(text(2, 30));
  cache.run(text(3, 30));
  cache.start(text(4, 60));
  EXPECT_EQ(cache.found(text(1, 30)), 30);
  EXPECT_EQ(cache.found(text(2, 30)), 0);
}

TEST(PrefixCacheEviction, MarkedPrefixesStayWhileTheirLifetimeLasts) {
  PrefixCacheOptions options;
  options.order = EvictionOrder::kLeastRecent;
  Cache cache(pool(6, 2, 100), options);
  cache.run(text(1, 30), {.marked = 20, .lifetime = std::chrono::seconds(300)});
  cache.run(text(2, 30));
  cache.run(text(3, 30));
  cache.start(text(4, 75));
  EXPECT_EQ(cache.found(text(1, 30)), 20) << "what is behind the mark went";
  EXPECT_EQ(cache.found(text(3, 30)), 5);
}

TEST(PrefixCacheEviction, MarksRunOut) {
  PrefixCacheOptions options;
  options.order = EvictionOrder::kLeastRecent;
  Cache cache(pool(6, 2, 100), options);
  cache.run(text(1, 30), {.marked = 30, .lifetime = std::chrono::seconds(300)});
  cache.run(text(2, 30));
  cache.now += std::chrono::seconds(301);
  cache.start(text(4, 70));
  EXPECT_EQ(cache.found(text(1, 30)), 0);
  EXPECT_EQ(cache.found(text(2, 30)), 30);
}

TEST(PrefixCacheEviction, MarksOfOneScopeProtectAtMostHalfOfTheCells) {
  PrefixCacheOptions options;
  options.order = EvictionOrder::kLeastRecent;
  Cache cache(pool(6, 2, 100), options);
  const Wish greedy{.scope = ScopeId(7), .marked = 100, .lifetime = std::chrono::seconds(300)};
  cache.run(text(1, 30), greedy);
  cache.run(text(2, 30), greedy);
  cache.run(text(3, 30), {.scope = ScopeId(8)});
  cache.start(text(4, 30));
  EXPECT_LT(cache.found(text(1, 30), ScopeId(7)), 30) << "the greedy scope's oldest goes first";
  EXPECT_EQ(cache.found(text(3, 30), ScopeId(8)), 30);
}

TEST(PrefixCacheEviction, PinnedPrefixesAreNeverEvictedForCells) {
  Cache cache(pool(6, 2, 100));
  cache.run(text(1, 40));
  cache->pin(kPublicScope, text(1, 30));
  EXPECT_FALSE(cache.place(text(2, 71)).placement);
  cache.start(text(2, 70));
  EXPECT_EQ(cache.found(text(1, 40)), 30);
  EXPECT_EQ(cache->counts().cells_pinned, 30u);
}

TEST(PrefixCacheEviction, APinHoldsForWhatIsComputedLater) {
  Cache cache(pool(6, 2, 100));
  cache->pin(kPublicScope, text(1, 30));
  cache.run(text(1, 40));
  cache.start(text(2, 70));
  EXPECT_EQ(cache.found(text(1, 40)), 30);
}

TEST(PrefixCacheEviction, UnpinnedPrefixesAreEvictedLikeOthers) {
  Cache cache(pool(6, 2, 100));
  cache.run(text(1, 40));
  cache->pin(kPublicScope, text(1, 30));
  cache->unpin(kPublicScope, text(1, 30));
  cache.start(text(2, 70), {.ahead = 20});
  EXPECT_EQ(cache.found(text(1, 40)), 10);
  EXPECT_EQ(cache->counts().cells_pinned, 0u);
}

TEST(PrefixCacheEviction, APinnedSlotGivesItsIdAwayOnlyWhenThereIsNoOther) {
  Cache cache(pool(3, 3, 100));
  cache.run(text(1, 20));
  cache->pin(kPublicScope, text(1, 10));
  cache.run(text(2, 10));
  cache.run(text(3, 10));
  cache.start(text(4, 5));
  cache.start(text(5, 5));
  EXPECT_EQ(cache.found(text(1, 10)), 10);
  cache.start(text(6, 5));
  EXPECT_EQ(cache.found(text(1, 10)), 0);
}

TEST(PrefixCacheEviction, AffinityHoldsOnTogetherToWhatOneKeyComputed) {
  PrefixCacheOptions options;
  options.order = EvictionOrder::kLeastRecent;
  Cache cache(pool(6, 2, 100), options);
  cache.run(text(1, 30), {.affinity = 5});
  cache.run(text(2, 30));
  cache.run(text(3, 30), {.affinity = 5});
  cache.start(text(4, 40));
  EXPECT_EQ(cache.found(text(1, 30)), 30) << "used as lately as its newest sister";
  EXPECT_EQ(cache.found(text(2, 30)), 0);
}

TEST(PrefixCacheEviction, DropIdleSparesRunningSequencesAlone) {
  Cache cache(pool(6, 2, 100));
  cache.run(text(1, 40));
  cache->pin(kPublicScope, text(1, 30));
  const Placement running = cache.start(text(2, 20));
  EXPECT_EQ(cache->drop_idle(), (CachePlan{DropTail{slot(0), 30}, DropTail{slot(0), 0}}));
  cache->check_integrity();
  EXPECT_EQ(cache->counts().cells_parked, 0u);
  EXPECT_EQ(cache->held(running.slot), 20);
}

TEST(PrefixCacheEviction, KeepsOnlyWhatIsMarkedWhenToldSo) {
  PrefixCacheOptions options;
  options.keep = KeepRule::kMarked;
  Cache cache(pool(6, 2, 100), options);
  cache.run(text(1, 30), {.marked = 20});
  cache.run(text(2, 30));
  EXPECT_EQ(cache.found(text(1, 30)), 20);
  EXPECT_EQ(cache.found(text(2, 30)), 0);
  EXPECT_EQ(cache->last_cap(), CacheCap::kNotKept);
  cache.run(text(1, 30));
  EXPECT_EQ(cache.found(text(1, 30)), 20) << "an earlier mark holds";
}

TEST(PrefixCacheEviction, KeepsNothingWhenToldSoButParkedSequences) {
  PrefixCacheOptions options;
  options.keep = KeepRule::kNothing;
  Cache cache(pool(6, 2, 100), options);
  cache.run(text(1, 30));
  EXPECT_EQ(cache.found(text(1, 30)), 0);
  const Placement parked = cache.start(text(2, 30));
  cache.release(parked.slot, Keep::kParked);
  EXPECT_EQ(cache.found(text(2, 30)), 30);
}

}  // namespace
}  // namespace zerohop

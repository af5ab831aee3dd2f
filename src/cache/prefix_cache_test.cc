#include "cache/prefix_cache.h"

#include <gtest/gtest.h>

#include "cache/prefix_cache_test_kit.h"

namespace zerohop {
namespace {

using namespace prefix_cache_test;

// ---- placing ----

TEST(PrefixCache, GivesTheLowestEmptySlotToAFirstPrompt) {
  Cache cache(pool(4, 2, 100));
  const PlaceResult result = cache.place(text(1, 10), {.ahead = 5});
  ASSERT_TRUE(result.placement);
  EXPECT_EQ(result.placement->slot, slot(0));
  EXPECT_EQ(result.placement->tokens_reused, 0);
  EXPECT_TRUE(result.placement->plan.empty());
  EXPECT_EQ(cache->counts().cells_reserved, 15u);
}

TEST(PrefixCache, GoesOnInTheParkedSlotThatHoldsTheBeginning) {
  Cache cache(pool(4, 2, 100));
  cache.run(text(1, 10));
  const PlaceResult next = cache.place(text(1, 10) + text(2, 5));
  ASSERT_TRUE(next.placement);
  EXPECT_EQ(next.placement->slot, slot(0));
  EXPECT_EQ(next.placement->tokens_reused, 10);
  EXPECT_TRUE(next.placement->plan.empty());
}

TEST(PrefixCache, SharesTheHeadOfALongerConversation) {
  Cache cache(pool(4, 2, 100));
  cache.run(text(1, 10) + text(2, 20));
  const PlaceResult other = cache.place(text(1, 10) + text(3, 5));
  ASSERT_TRUE(other.placement);
  EXPECT_EQ(other.placement->slot, slot(1));
  EXPECT_EQ(other.placement->plan, (CachePlan{ShareHead{slot(0), slot(1), 10}}));
  EXPECT_EQ(cache.found(text(1, 10) + text(2, 20)), 30);
}

TEST(PrefixCache, SharesWithARunningSequenceToTheToken) {
  Cache cache(pool(4, 2, 100));
  cache.start(text(1, 10));
  const PlaceResult same = cache.place(text(1, 10));
  ASSERT_TRUE(same.placement);
  EXPECT_EQ(same.placement->tokens_reused, 9) << "the last token's logits are needed";
  EXPECT_EQ(same.placement->plan, (CachePlan{ShareHead{slot(0), slot(1), 9}}));
  EXPECT_EQ(cache->counts().cells_active, 10u) << "shared cells count once";
}

TEST(PrefixCache, CountsTwiceWhatTwoSequencesComputeSideBySide) {
  Cache cache(pool(4, 2, 100));
  const PlaceResult one = cache.place(text(1, 10));
  const PlaceResult two = cache.place(text(1, 10));
  cache.grow(one.placement->slot, text(1, 10));
  cache.grow(two.placement->slot, text(1, 10));
  EXPECT_EQ(cache->counts().cells_active, 20u);
  EXPECT_EQ(cache->counts().tokens_indexed, 10u);
}

TEST(PrefixCache, FollowsAnotherSequenceTokenByTokenWithoutBreakingItsEdgeUp) {
  Cache cache(pool(4, 2, 200));
  const PlaceResult one = cache.place(text(1, 4), {.ahead = 60});
  const PlaceResult two = cache.place(text(1, 4), {.ahead = 60});
  cache.grow(one.placement->slot, text(1, 60));
  for (const Token token : text(1, 50)) cache.grow(two.placement->slot, {token});
  EXPECT_LE(cache->counts().edges, 4u);
  EXPECT_EQ(cache->held(two.placement->slot), 50);
}

TEST(PrefixCache, RefusesWhenAsManyRunAsMay) {
  Cache cache(pool(4, 1, 100));
  cache.start(text(1, 5));
  const PlaceResult second = cache.place(text(2, 5));
  EXPECT_FALSE(second.placement);
  EXPECT_EQ(second.refusal, PlaceRefusal::kNoSequence);
}

TEST(PrefixCache, RefusesWhenRunningSequencesWerePromisedTooMuch) {
  Cache cache(pool(4, 3, 100));
  cache.start(text(1, 10), {.ahead = 80});
  const PlaceResult second = cache.place(text(2, 11));
  EXPECT_FALSE(second.placement);
  EXPECT_EQ(second.refusal, PlaceRefusal::kNoCells);
  EXPECT_TRUE(cache.place(text(2, 10)).placement);
}

TEST(PrefixCache, ARefusalChangesNothing) {
  Cache cache(pool(4, 3, 100));
  cache.run(text(3, 20));
  cache.start(text(1, 10), {.ahead = 60});
  const CacheCounts before = cache->counts();
  EXPECT_FALSE(cache.place(text(3, 5) + text(2, 50)).placement);
  const CacheCounts after = cache->counts();
  EXPECT_EQ(after.cells_parked, before.cells_parked);
  EXPECT_EQ(after.edges, before.edges);
  EXPECT_EQ(cache.found(text(3, 20)), 20);
}

TEST(PrefixCache, CountsAReusedPrefixOnceWhenItAsksForRoom) {
  Cache cache(pool(4, 2, 100));
  cache.start(text(1, 80));
  EXPECT_FALSE(cache.place(text(2, 21)).placement);
  EXPECT_TRUE(cache.place(text(1, 80) + text(2, 20)).placement);
}

TEST(PrefixCache, ReusesTheIdOfAParkedSlotWhenNoneIsLeft) {
  Cache cache(pool(2, 2, 100));
  cache.run(text(1, 10));
  cache.run(text(2, 10));
  const Placement third = cache.start(text(3, 10));
  EXPECT_EQ(third.plan, (CachePlan{DropTail{slot(0), 0}}));
  EXPECT_EQ(cache->last_cap(), CacheCap::kHolders);
  EXPECT_EQ(cache.found(text(2, 10)), 10);
}

TEST(PrefixCache, CutsTheOnlyParkedSlotWhenItIsTheOneToShareFrom) {
  Cache cache(pool(2, 2, 100));
  cache.run(text(1, 10) + text(2, 10));
  cache.start(text(3, 10));
  const PlaceResult next = cache.place(text(1, 10) + text(4, 10));
  ASSERT_TRUE(next.placement);
  EXPECT_EQ(next.placement->slot, slot(0));
  EXPECT_EQ(next.placement->tokens_reused, 10);
  EXPECT_EQ(next.placement->plan, (CachePlan{DropTail{slot(0), 10}}));
}

// ---- growing, promising, releasing ----

TEST(PrefixCache, GrowsWithinThePromise) {
  Cache cache(pool(4, 2, 100));
  const Placement one = cache.start(text(1, 10), {.ahead = 3});
  cache.grow(one.slot, text(2, 2));
  EXPECT_EQ(cache->held(one.slot), 12);
  EXPECT_EQ(cache->counts().cells_reserved, 1u);
  EXPECT_EQ(cache.found(text(1, 10) + text(2, 2)), 12);
}

TEST(PrefixCache, EvictsParkedCellsForAPromiseAndTakesPromisesBack) {
  Cache cache(pool(4, 2, 100));
  cache.run(text(1, 60));
  const Placement two = cache.start(text(2, 20));
  const auto plan = cache->reserve(two.slot, 50, cache.now);
  ASSERT_TRUE(plan);
  EXPECT_EQ(*plan, (CachePlan{DropTail{slot(0), 30}})) << "to the token";
  EXPECT_EQ(cache->counts().cells_free(), 0u);
  ASSERT_TRUE(cache->reserve(two.slot, 5, cache.now));
  EXPECT_EQ(cache->counts().cells_free(), 45u);
}

TEST(PrefixCache, RefusesAPromiseThatRunningSequencesLeaveNoRoomFor) {
  Cache cache(pool(4, 2, 100));
  const Placement one = cache.start(text(1, 50));
  const Placement two = cache.start(text(2, 40));
  EXPECT_FALSE(cache->reserve(two.slot, 11, cache.now));
  EXPECT_EQ(cache->counts().cells_reserved, 0u);
  EXPECT_TRUE(cache->reserve(one.slot, 10, cache.now));
}

TEST(PrefixCache, RefusesAPromiseBeyondTheWindow) {
  KvCapabilities capabilities = pool(4, 2, 100);
  capabilities.slot_cells = 20;
  Cache cache(capabilities);
  const Placement one = cache.start(text(1, 15));
  EXPECT_FALSE(cache->reserve(one.slot, 6, cache.now));
  EXPECT_TRUE(cache->reserve(one.slot, 5, cache.now));
}

TEST(PrefixCache, DropsASlotWhoseContentAnotherHolds) {
  Cache cache(pool(4, 2, 100));
  const Placement one = cache.start(text(1, 10));
  cache.start(text(1, 10) + text(2, 10));
  EXPECT_EQ(cache.release(one.slot), (CachePlan{DropTail{one.slot, 0}}));
  EXPECT_EQ(cache->counts().slots_parked, 0u);
}

TEST(PrefixCache, ForgetsWhatAFailedSequenceComputedAndKeepsWhatItFound) {
  Cache cache(pool(4, 2, 100));
  cache.run(text(1, 10));
  const Placement failed = cache.start(text(1, 10) + text(2, 10));
  EXPECT_EQ(cache.release(failed.slot, Keep::kNothing), (CachePlan{DropTail{failed.slot, 10}}));
  EXPECT_EQ(cache.found(text(1, 10) + text(2, 10)), 10);
}

TEST(PrefixCache, CorrectLowersWhatTheSlotHoldsAndRaisesThePromise) {
  Cache cache(pool(4, 2, 100));
  cache.run(text(1, 10));
  const PlaceResult next = cache.place(text(1, 10) + text(2, 5));
  cache->correct(next.placement->slot, 4);
  cache->check_integrity();
  EXPECT_EQ(cache->held(next.placement->slot), 4);
  EXPECT_EQ(cache->counts().cells_reserved, 11u);
  EXPECT_EQ(cache.found(text(1, 10)), 4);
}

TEST(PrefixCache, CorrectPromisesNoMoreThanThereIsRoomFor) {
  Cache cache(pool(4, 2, 100));
  cache.start(text(1, 60));
  const PlaceResult two = cache.place(text(1, 60) + text(2, 10));
  cache->correct(two.placement->slot, 0);
  cache->check_integrity();
  EXPECT_EQ(cache->counts().cells_reserved, 40u);
  EXPECT_FALSE(cache->reserve(two.placement->slot, 70, cache.now));
}

// ---- scopes ----

TEST(PrefixCache, ScopesSeeTheirOwnAndThePublicPrefixes) {
  Cache cache(pool(6, 3, 200));
  cache.run(text(1, 20));
  cache.run(text(1, 20) + text(2, 20), {.scope = ScopeId(7)});
  EXPECT_EQ(cache.found(text(1, 20) + text(2, 20), ScopeId(7)), 40);
  EXPECT_EQ(cache.found(text(1, 20) + text(2, 20), ScopeId(8)), 20);
  EXPECT_EQ(cache.found(text(1, 20) + text(2, 20)), 20);
}

TEST(PrefixCache, ScopesShareTheCellsOfPublicPrefixes) {
  Cache cache(pool(6, 3, 200));
  cache.run(text(1, 20));
  cache.run(text(1, 20) + text(2, 20), {.scope = ScopeId(7)});
  cache.run(text(1, 20) + text(3, 20), {.scope = ScopeId(8)});
  EXPECT_EQ(cache->counts().cells_parked, 60u);
}

TEST(PrefixCache, TwoScopesMayHoldTheSameTokensApart) {
  Cache cache(pool(6, 3, 200));
  cache.run(text(1, 20), {.scope = ScopeId(7)});
  const Placement other = cache.start(text(1, 20), {.scope = ScopeId(8)});
  EXPECT_EQ(other.tokens_reused, 0);
  EXPECT_EQ(cache->counts().tokens_indexed, 40u);
}

TEST(PrefixCache, TakesTheLongerOfAPublicAndAPrivatePath) {
  Cache cache(pool(6, 3, 300));
  cache.run(text(1, 50), {.scope = ScopeId(7)});
  cache.run(text(1, 30));
  EXPECT_EQ(cache.found(text(1, 50), ScopeId(7)), 50);
  EXPECT_EQ(cache.found(text(1, 50), ScopeId(8)), 30);
}

}  // namespace
}  // namespace zerohop

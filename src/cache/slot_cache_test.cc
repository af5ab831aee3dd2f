#include "cache/slot_cache.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace zerohop {
namespace {

KvCapabilities streams(std::uint32_t slots, std::uint32_t window) {
  KvCapabilities capabilities;
  capabilities.slots = slots;
  capabilities.slot_cells = window;
  capabilities.cells = slots * window;
  capabilities.dense_slots_matter = true;
  return capabilities;
}

KvCapabilities pool(std::uint32_t slots, std::uint32_t window, std::uint32_t cells) {
  KvCapabilities capabilities = streams(slots, window);
  capabilities.cells = cells;
  capabilities.pooled = true;
  capabilities.can_share_range = true;
  return capabilities;
}

std::vector<Token> tokens(std::initializer_list<Token> list) { return list; }

// Places, computes everything that is missing, and releases.
SlotId run_through(SlotCache& cache, const std::vector<Token>& prompt) {
  const auto placement = cache.place(prompt, static_cast<std::uint32_t>(prompt.size()));
  EXPECT_TRUE(placement.has_value());
  cache.grow(placement->slot,
             TokenSpan(prompt).subspan(static_cast<std::size_t>(placement->tokens_reused)));
  (void)cache.release(placement->slot, SlotCache::Keep::kCells);
  cache.check_integrity();
  return placement->slot;
}

TEST(SlotCache, GivesAnEmptySlotToAFirstPrompt) {
  SlotCache cache(streams(2, 16));
  const auto placement = cache.place(tokens({1, 2, 3}), 8);
  ASSERT_TRUE(placement);
  EXPECT_EQ(placement->slot, SlotId(0));
  EXPECT_EQ(placement->tokens_reused, 0);
  EXPECT_TRUE(placement->plan.empty());
  EXPECT_EQ(cache.counts().cells_reserved, 8u);
}

TEST(SlotCache, ContinuesAConversationInItsOwnSlot) {
  SlotCache cache(streams(2, 16));
  run_through(cache, tokens({1, 2, 3, 4}));
  const auto next = cache.place(tokens({1, 2, 3, 9, 9}), 8);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->slot, SlotId(0));
  EXPECT_EQ(next->tokens_reused, 3);
  EXPECT_EQ(next->plan, (CachePlan{DropTail{SlotId(0), 3}}));
}

TEST(SlotCache, SaysWhatEachSlotHoldsRunningOrNot) {
  SlotCache cache(streams(2, 16));
  run_through(cache, tokens({1, 2, 3, 4}));
  EXPECT_EQ(cache.held(SlotId(0)), 4);
  EXPECT_EQ(cache.held(SlotId(1)), 0);
  const auto next = cache.place(tokens({1, 2, 3, 9, 9}), 8);
  EXPECT_EQ(cache.held(next->slot), 3);
}

TEST(SlotCache, LeavesTheLastPromptTokenToCompute) {
  SlotCache cache(streams(1, 16));
  run_through(cache, tokens({1, 2, 3}));
  const auto again = cache.place(tokens({1, 2, 3}), 8);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->tokens_reused, 2);
}

TEST(SlotCache, SparesALongConversationFromAShortMatch) {
  SlotCache cache(streams(2, 16));
  const SlotId first = run_through(cache, tokens({1, 2, 3, 4, 5, 6, 7, 8}));
  const auto other = cache.place(tokens({1, 2, 30, 40}), 8);
  ASSERT_TRUE(other);
  EXPECT_NE(other->slot, first);
}

TEST(SlotCache, SharesTheMatchWhereTheLayoutCan) {
  SlotCache cache(pool(2, 16, 32));
  run_through(cache, tokens({1, 2, 3, 4, 5, 6, 7, 8}));
  const auto other = cache.place(tokens({1, 2, 3, 40}), 8);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->slot, SlotId(1));
  EXPECT_EQ(other->tokens_reused, 3);
  EXPECT_EQ(other->plan, (CachePlan{ShareHead{SlotId(0), SlotId(1), 3}}));
}

TEST(SlotCache, SharesFromARunningSequence) {
  SlotCache cache(pool(2, 16, 32));
  const std::vector<Token> prompt = tokens({1, 2, 3, 4});
  const auto first = cache.place(prompt, 8);
  ASSERT_TRUE(first);
  cache.grow(first->slot, prompt);
  const auto second = cache.place(prompt, 8);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->tokens_reused, 3);
}

TEST(SlotCache, RefusesWhileAllSlotsRun) {
  SlotCache cache(streams(1, 16));
  ASSERT_TRUE(cache.place(tokens({1}), 4));
  EXPECT_FALSE(cache.place(tokens({2}), 4));
}

TEST(SlotCache, NeverPromisesMoreCellsThanThereAre) {
  SlotCache cache(pool(4, 16, 20));
  ASSERT_TRUE(cache.place(tokens({1}), 16));
  EXPECT_FALSE(cache.place(tokens({2}), 5));
  EXPECT_TRUE(cache.place(tokens({2}), 4));
  cache.check_integrity();
}

TEST(SlotCache, DropsTheOldestIdleSlotToMakeRoom) {
  SlotCache cache(pool(3, 16, 20));
  run_through(cache, tokens({1, 1, 1, 1, 1, 1, 1, 1}));
  run_through(cache, tokens({2, 2, 2, 2, 2, 2, 2, 2}));
  const auto placement = cache.place(tokens({3, 3}), 8);
  ASSERT_TRUE(placement);
  EXPECT_EQ(placement->plan, (CachePlan{DropTail{SlotId(0), 0}}));
  cache.check_integrity();
}

TEST(SlotCache, ForgetsWhatIsReleasedForNothing) {
  SlotCache cache(streams(1, 16));
  const std::vector<Token> prompt = tokens({1, 2, 3});
  const auto first = cache.place(prompt, 8);
  cache.grow(first->slot, prompt);
  EXPECT_EQ(cache.release(first->slot, SlotCache::Keep::kNothing),
            (CachePlan{DropTail{SlotId(0), 0}}));
  EXPECT_EQ(cache.place(prompt, 8)->tokens_reused, 0);
}

TEST(SlotCache, DropIdleSparesRunningSlots) {
  SlotCache cache(pool(2, 16, 32));
  run_through(cache, tokens({1, 2, 3}));
  const std::vector<Token> other = tokens({7, 8});
  const auto running = cache.place(other, 4);
  cache.grow(running->slot, other);
  EXPECT_EQ(cache.drop_idle(), (CachePlan{DropTail{SlotId(0), 0}}));
  EXPECT_EQ(cache.counts().cells_cached, 0u);
  EXPECT_EQ(cache.counts().slots_running, 1u);
}

// The naive twin: what each slot really holds, kept by obeying the plans alone.
class Twin {
 public:
  void obey(const CachePlan& plan) {
    for (const CacheOp& op : plan) {
      if (const auto* drop = std::get_if<DropTail>(&op)) {
        auto& held = cells_[drop->slot.value];
        held.resize(std::min(held.size(), static_cast<std::size_t>(drop->from)));
      } else {
        const auto& share = std::get<ShareHead>(op);
        ASSERT_TRUE(cells_[share.to.value].empty());
        const auto& from = cells_[share.from.value];
        ASSERT_GE(static_cast<std::int32_t>(from.size()), share.length);
        cells_[share.to.value].assign(from.begin(), from.begin() + share.length);
      }
    }
  }
  std::vector<Token>& held(SlotId slot) { return cells_[slot.value]; }
  std::size_t total() const {
    std::size_t sum = 0;
    for (const auto& [slot, held] : cells_) sum += held.size();
    return sum;
  }

 private:
  std::map<std::int32_t, std::vector<Token>> cells_;
};

struct Running {
  SlotId slot;
  std::vector<Token> prompt;
  std::uint32_t reserved;
};

void fuzz(const KvCapabilities& capabilities, std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  SlotCache cache(capabilities);
  Twin twin;
  std::vector<Running> running;
  for (int step = 0; step < 300; ++step) {
    if (random.chance(0.5)) {
      std::vector<Token> prompt(1 + random.below(capabilities.slot_cells - 2));
      for (Token& token : prompt) token = static_cast<Token>(random.below(2));
      const auto reserved = static_cast<std::uint32_t>(
          prompt.size() + random.below(capabilities.slot_cells - prompt.size() + 1));
      const auto placement = cache.place(prompt, reserved);
      if (placement) {
        twin.obey(placement->plan);
        const std::vector<Token>& held = twin.held(placement->slot);
        ASSERT_EQ(static_cast<std::int32_t>(held.size()), placement->tokens_reused);
        ASSERT_LT(held.size(), prompt.size());
        ASSERT_TRUE(std::equal(held.begin(), held.end(), prompt.begin()));
        running.push_back(Running{placement->slot, prompt, reserved});
      } else {
        ASSERT_FALSE(running.empty());
      }
    } else if (!running.empty()) {
      const std::size_t pick = random.below(running.size());
      Running& one = running[pick];
      std::vector<Token>& held = twin.held(one.slot);
      if (random.chance(0.6) && held.size() < one.reserved) {
        const Token next = held.size() < one.prompt.size() ? one.prompt[held.size()]
                                                           : static_cast<Token>(random.below(2));
        cache.grow(one.slot, TokenSpan(&next, 1));
        held.push_back(next);
      } else {
        const auto keep = random.chance(0.8) ? SlotCache::Keep::kCells : SlotCache::Keep::kNothing;
        twin.obey(cache.release(one.slot, keep));
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(pick));
      }
    }
    cache.check_integrity();
    ASSERT_LE(twin.total(), capabilities.cells);
  }
}

TEST(SlotCacheFuzz, PlansObeyedByANaiveTwinGiveTheClaimedCells) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    fuzz(streams(3, 12), seed);
    fuzz(pool(4, 12, 20), seed);
    fuzz(pool(4, 12, 48), seed);
  }
}

}  // namespace
}  // namespace zerohop

#include "engine/prefill_order.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const TimePoint kNow{std::chrono::hours(1)};
const PrefillOrderOptions kOptions{seconds(2), milliseconds(2)};

PrefillCandidate prompt(std::uint64_t tenant, double counter, std::uint32_t pending) {
  PrefillCandidate candidate;
  candidate.tenant = TenantId(tenant);
  candidate.counter = counter;
  candidate.pending = pending;
  candidate.started_at = kNow;
  return candidate;
}

std::vector<std::uint32_t> ranks_of(const std::vector<PrefillCandidate>& candidates) {
  std::vector<std::uint32_t> ranks;
  for (const PrefillRank& rank : rank_prefills(candidates, kOptions, kNow)) {
    ranks.push_back(rank.rank);
  }
  return ranks;
}

TEST(PrefillOrder, PutsTheTenantFirstThatWasServedLeast) {
  EXPECT_EQ(ranks_of({prompt(1, 900, 10), prompt(2, 100, 4000), prompt(3, 500, 10)}),
            (std::vector<std::uint32_t>{2, 0, 1}));
}

TEST(PrefillOrder, PutsTheShortestOfATenantFirst) {
  EXPECT_EQ(ranks_of({prompt(1, 5, 900), prompt(1, 5, 20), prompt(1, 5, 300)}),
            (std::vector<std::uint32_t>{2, 0, 1}));
}

TEST(PrefillOrder, PutsHigherClassesFirst) {
  PrefillCandidate batch = prompt(1, 0, 10);
  batch.priority = PriorityClass::kBatch;
  PrefillCandidate urgent = prompt(2, 1e9, 4000);
  urgent.priority = PriorityClass::kPriority;
  EXPECT_EQ(ranks_of({batch, prompt(3, 5, 10), urgent}), (std::vector<std::uint32_t>{2, 1, 0}));
}

TEST(PrefillOrder, PutsADeadlineFirstWhenItGetsTightAndOnlyWithinItsTenant) {
  PrefillCandidate tight = prompt(1, 5, 500);  // one second of its own
  tight.first_token_by = kNow + milliseconds(1900);
  PrefillCandidate tighter = prompt(1, 5, 600);
  tighter.first_token_by = kNow + milliseconds(1900);
  PrefillCandidate easy = prompt(1, 5, 400);
  easy.first_token_by = kNow + seconds(60);
  EXPECT_EQ(ranks_of({prompt(1, 5, 20), tight, easy, tighter, prompt(2, 1, 4000)}),
            (std::vector<std::uint32_t>{3, 2, 4, 1, 0}));
}

TEST(PrefillOrder, CallsThoseAgedThatWaitedLongBehindOthers) {
  PrefillCandidate old = prompt(1, 900, 4000);
  old.started_at = kNow - seconds(2);
  PrefillCandidate first = prompt(2, 1, 4000);
  first.started_at = kNow - seconds(9);
  const auto ranks = rank_prefills(std::vector{old, first, prompt(3, 5, 10)}, kOptions, kNow);
  EXPECT_TRUE(ranks[0].aged);
  EXPECT_FALSE(ranks[1].aged);  // it goes first anyway
  EXPECT_FALSE(ranks[2].aged);
}

TEST(PrefillOrder, CallsOnlyTheOldestAged) {
  PrefillCandidate longest = prompt(1, 5, 4000);
  longest.started_at = kNow - seconds(9);
  PrefillCandidate longer = prompt(1, 5, 90);
  longer.started_at = kNow - seconds(3);
  const auto ranks = rank_prefills(std::vector{longer, longest, prompt(1, 5, 10)}, kOptions, kNow);
  EXPECT_FALSE(ranks[0].aged);
  EXPECT_TRUE(ranks[1].aged);
}

TEST(PrefillOrder, KeepsTheOrderGivenAmongEquals) {
  EXPECT_EQ(ranks_of({prompt(1, 5, 20), prompt(1, 5, 20), prompt(1, 5, 20)}),
            (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_TRUE(rank_prefills({}, kOptions, kNow).empty());
}

}  // namespace
}  // namespace zerohop

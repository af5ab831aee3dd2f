#include "engine/drafter.h"

#include <gtest/gtest.h>

#include <numeric>

#include "engine/ngram_index.h"

namespace zerohop {
namespace {

// So many different tokens, twice but for the end of the second time.
std::vector<Token> repeated(std::size_t period, std::size_t again) {
  std::vector<Token> text(period);
  std::iota(text.begin(), text.end(), 1);
  for (std::size_t i = 0; i < again; ++i) text.push_back(text[i]);
  return text;
}

TEST(Drafter, ProposesWhatCameBehindTheSameTokensBefore) {
  Drafter drafter;
  const std::vector<Token> text = repeated(20, 5);
  drafter.propose(text, 4);
  ASSERT_EQ(drafter.tokens().size(), 4u);
  ASSERT_EQ(drafter.gains().size(), 4u);
  for (std::size_t j = 0; j < 4; ++j) EXPECT_EQ(drafter.tokens()[j], text[5 + j]);
  drafter.shorten(2);
  EXPECT_EQ(drafter.tokens().size(), 2u);
  EXPECT_EQ(drafter.gains().size(), 2u);
  Drafter other;
  other.propose(repeated(20, 0), 4);
  EXPECT_TRUE(other.tokens().empty());
  EXPECT_TRUE(other.gains().empty());
}

TEST(Drafter, HoldsLongMatchesForLikelierAndEachFurtherTokenForLess) {
  Drafter drafter;
  drafter.propose(repeated(40, 2), 16);
  const std::vector<double> behind_two(drafter.gains().begin(), drafter.gains().end());
  Drafter other;
  other.propose(repeated(40, 12), 16);
  ASSERT_EQ(behind_two.size(), 16u);
  ASSERT_EQ(other.gains().size(), 16u);
  for (std::size_t j = 0; j < 16; ++j) {
    EXPECT_LT(behind_two[j], other.gains()[j]);
    if (j == 0) continue;
    EXPECT_LE(other.gains()[j], other.gains()[j - 1]);
  }
  EXPECT_GT(behind_two[15], 0);
}

TEST(Drafter, LearnsFromWhatBecameOfADraft) {
  Drafter taken;
  Drafter refused;
  const std::vector<Token> text = repeated(60, 6);
  const double before = taken.chance(6);
  for (int i = 0; i < 10; ++i) {
    taken.propose(text, 3);
    taken.learn({3, 3, false});
    refused.propose(text, 3);
    refused.learn({3, 1, true});
  }
  EXPECT_GT(taken.chance(6), 0.9);
  EXPECT_LT(taken.chance(6), 1.0);
  EXPECT_LT(refused.chance(6), before + 0.1);
  // The first of each draft was taken, the second one was not; both are of one class here.
  EXPECT_NEAR(refused.chance(6), 0.5, 0.15);
  EXPECT_EQ(taken.chance(2), Drafter().chance(2)) << "nothing of the kind was tried";
}

TEST(Drafter, RestsAfterFailuresForTwiceAsLongEachTime) {
  Drafter drafter;
  std::vector<Token> text = repeated(2'000, 300);
  std::uint32_t rest = Drafter::kRestMin;
  std::size_t size = 2'010;
  for (int round = 0; round < 3; ++round) {
    for (std::uint32_t i = 0; i < Drafter::kFailuresMax; ++i) {
      EXPECT_FALSE(drafter.resting());
      drafter.propose(TokenSpan(text).first(size), 2);
      ASSERT_FALSE(drafter.tokens().empty()) << "round " << round;
      drafter.learn({2, 0, true});
    }
    ASSERT_TRUE(drafter.resting());
    drafter.propose(TokenSpan(text).first(size + rest - 1), 2);
    EXPECT_TRUE(drafter.tokens().empty());
    drafter.propose(TokenSpan(text).first(size + rest), 2);
    EXPECT_FALSE(drafter.tokens().empty());
    size += rest;
    rest *= 2;
  }
}

TEST(Drafter, DoesNotCountADraftAsFailedOfWhichNothingIsKnown) {
  Drafter drafter;
  const std::vector<Token> text = repeated(40, 6);
  const double before = drafter.chance(6);
  for (int i = 0; i < 20; ++i) {
    drafter.propose(text, 3);
    drafter.learn({3, 0, false});
  }
  EXPECT_FALSE(drafter.resting());
  EXPECT_EQ(drafter.chance(6), before);
}

TEST(Drafter, TriesAgainOneDayWhatItWasDeclined) {
  Drafter drafter;
  const std::vector<Token> text = repeated(60, 2);
  for (int i = 0; i < 12; ++i) {
    drafter.propose(text, 3);
    drafter.learn({3, i % 3 == 0 ? 1u : 0u, true});  // now and then one, so that it never rests
  }
  const double sobered = drafter.chance(2);
  ASSERT_LT(sobered, Drafter().chance(2) + 0.2);
  for (std::uint32_t i = 0; i < 20 * Drafter::kDeclinedMax; ++i) {
    drafter.propose(text, 3);
    drafter.declined();
  }
  EXPECT_NEAR(drafter.chance(2), Drafter().chance(2), 1e-3);
}

TEST(Drafter, TakesNoMemoryBeforeItIsAsked) {
  Drafter drafter;
  EXPECT_EQ(drafter.memory_bytes(), 0u);
  drafter.propose(repeated(100, 3), 1);
  EXPECT_GT(drafter.memory_bytes(), 0u);
  EXPECT_LE(drafter.memory_bytes(), 16u * 512);
}

}  // namespace
}  // namespace zerohop

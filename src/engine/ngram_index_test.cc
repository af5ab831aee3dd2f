#include "engine/ngram_index.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace zerohop {
namespace {

using Match = NgramIndex::Match;

// Random tokens, with pieces of what was said before among them.
std::vector<Token> random_text(Random& random, std::size_t size) {
  const std::uint64_t alphabet = 2 + random.below(40);
  const double copies = random.uniform() * 0.1;
  std::vector<Token> text;
  while (text.size() < size) {
    if (text.size() > 4 && random.chance(copies)) {
      const std::size_t from = random.below(text.size());
      const std::size_t count = 1 + random.below(50);
      for (std::size_t i = 0; i < count; ++i) text.push_back(text[from + i]);
    } else {
      text.push_back(static_cast<Token>(random.below(alphabet)));
    }
  }
  text.resize(size);
  return text;
}

std::int32_t agreeing(TokenSpan text, std::size_t place) {
  const std::size_t last = text.size() - 1;
  std::int32_t count = 0;
  while (count < NgramIndex::kAgreeingMax && static_cast<std::size_t>(count) <= place &&
         text[place - static_cast<std::size_t>(count)] ==
             text[last - static_cast<std::size_t>(count)]) {
    ++count;
  }
  return count;
}

// What find() is to find, by looking everywhere.
std::optional<Match> naive_find(TokenSpan text) {
  Match best;
  int looked = 0;
  for (std::size_t back = 2; back <= text.size() && looked < NgramIndex::kPlacesMax; ++back) {
    const std::size_t place = text.size() - back;
    const std::int32_t count = agreeing(text, place);
    if (count < 3) continue;
    ++looked;
    if (count > best.agreeing) best = {static_cast<std::int32_t>(place) + 1, count};
  }
  for (std::size_t back = 2; back <= text.size() && best.agreeing == 0; ++back) {
    const std::size_t place = text.size() - back;
    if (agreeing(text, place) == 2) best = {static_cast<std::int32_t>(place) + 1, 2};
  }
  if (best.agreeing == 0) return std::nullopt;
  return best;
}

bool same(const std::optional<Match>& a, const std::optional<Match>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->next == b->next && a->agreeing == b->agreeing;
}

// Texts grow token by token and in jumps. So many others of the same hash that a place is not
// reached are rare.
TEST(NgramIndex, FindsWhatALookEverywhereFinds) {
  Random random(11);
  std::size_t asked = 0;
  std::size_t other = 0;
  for (int round = 0; round < 400; ++round) {
    const std::vector<Token> text = random_text(random, 20 + random.below(600));
    NgramIndex index;
    for (std::size_t size = 1; size <= text.size(); size += 1 + random.below(3) / 2) {
      const TokenSpan so_far = TokenSpan(text).first(size);
      index.follow(so_far);
      const std::optional<Match> found = index.find(so_far);
      ++asked;
      if (!same(found, naive_find(so_far))) ++other;
      if (!found) continue;
      const auto next = static_cast<std::size_t>(found->next);
      ASSERT_LT(next, size);
      ASSERT_EQ(agreeing(so_far, next - 1), found->agreeing) << "round " << round;
      ASSERT_GE(found->agreeing, NgramIndex::kAgreeingMin);
    }
  }
  ASSERT_GT(asked, 50'000u);
  EXPECT_LT(other, asked / 5'000) << other << " of " << asked;
}

TEST(NgramIndex, PrefersTheLongerMatchAndThenTheLaterOne) {
  //                              0  1  2  3  4  5  6  7  8  9 10 11 12 13 14
  const std::vector<Token> text{9, 1, 2, 3, 4, 8, 1, 2, 3, 5, 9, 1, 2, 3};
  NgramIndex index;
  index.follow(text);
  const auto longer = index.find(text);
  ASSERT_TRUE(longer);
  EXPECT_EQ(longer->next, 4);
  EXPECT_EQ(longer->agreeing, 4);
  const std::vector<Token> equal{1, 2, 3, 4, 8, 1, 2, 3, 5, 7, 1, 2, 3};
  NgramIndex other;
  other.follow(equal);
  const auto later = other.find(equal);
  ASSERT_TRUE(later);
  EXPECT_EQ(later->next, 8);
}

TEST(NgramIndex, FindsNothingInATextThatNeverRepeatsTwoTokens) {
  std::vector<Token> text;
  NgramIndex index;
  for (Token token = 0; token < 2'000; ++token) {
    text.push_back(token);
    index.follow(text);
    ASSERT_FALSE(index.find(text));
  }
  EXPECT_FALSE(NgramIndex().find({}));
}

TEST(NgramIndex, GoesOnWithItselfWhereTheTextEnds) {
  const std::vector<Token> text{7, 1, 2, 3, 1, 2, 3};
  NgramIndex index;
  index.follow(text);
  const auto match = index.find(text);
  ASSERT_TRUE(match);
  std::vector<Token> out;
  NgramIndex::copy(text, *match, 7, out);
  EXPECT_EQ(out, (std::vector<Token>{1, 2, 3, 1, 2, 3, 1}));
  NgramIndex::copy(text, *match, 2, out);
  EXPECT_EQ(out, (std::vector<Token>{1, 2}));
}

TEST(NgramIndex, KeepsAWindowOfALongTextInBoundedMemory) {
  Random random(3);
  std::vector<Token> text{1, 2, 3, 4, 5};  // once, and never again until the end
  NgramIndex index;
  const auto grow_to = [&](std::size_t size) {
    while (text.size() < size) text.push_back(static_cast<Token>(100 + random.below(1u << 20)));
    index.follow(text);
  };
  grow_to(NgramIndex::kWindow - 100);
  const std::size_t memory = index.memory_bytes();
  text.insert(text.end(), {1, 2, 3});
  index.follow(text);
  const auto near = index.find(text);
  ASSERT_TRUE(near);
  EXPECT_EQ(near->next, 3);
  grow_to(3u * NgramIndex::kWindow);
  text.insert(text.end(), {2, 3, 4});  // the others stood in front of the window
  index.follow(text);
  EXPECT_FALSE(index.find(text));
  EXPECT_EQ(index.memory_bytes(), memory);
  EXPECT_LE(memory, 16u * NgramIndex::kWindow);
}

// After a long time in which nobody looked, only the latest window is read.
TEST(NgramIndex, MayBeLeftBehindByAnyNumberOfTokens) {
  Random random(4);
  std::vector<Token> text;
  NgramIndex index;
  for (int round = 0; round < 6; ++round) {
    const std::size_t jump = random.below(2u * NgramIndex::kWindow);
    for (std::size_t i = 0; i < jump; ++i)
      text.push_back(static_cast<Token>(random.below(1 << 20)));
    const std::vector<Token> phrase(text.end() - std::min<std::ptrdiff_t>(50, std::ssize(text)),
                                    text.end());
    text.insert(text.end(), phrase.begin(), phrase.end());
    index.follow(text);
    const auto match = index.find(text);
    ASSERT_TRUE(match) << round;
    EXPECT_EQ(match->next, std::ssize(text) - std::ssize(phrase)) << round;
  }
}

}  // namespace
}  // namespace zerohop

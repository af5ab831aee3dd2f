#include "cache/sorted_prompts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>

#include "base/random.h"

namespace zerohop {
namespace {

using Tokens = std::vector<Token>;

TEST(CommonPrefix, EndsAtTheFirstDifference) {
  for (const std::size_t size : {0u, 1u, 31u, 32u, 33u, 64u, 100u}) {
    Tokens a(size, 7);
    EXPECT_EQ(common_prefix(a, a), size);
    for (std::size_t i = 0; i < size; ++i) {
      Tokens b = a;
      b[i] = 8;
      EXPECT_EQ(common_prefix(a, b), i);
      EXPECT_EQ(common_prefix(a, b, i / 2), i);
      EXPECT_EQ(common_suffix(a, b), size - 1 - i);
    }
  }
}

TEST(CommonPrefix, IsTheShorterOneWhenThatIsAllOfIt) {
  const Tokens a(40, 1);
  const Tokens b(50, 1);
  EXPECT_EQ(common_prefix(a, b), 40u);
  EXPECT_EQ(common_suffix(a, b), 40u);
}

TEST(SortedPrompts, HaveNoNeighbourWhenEmpty) {
  const SortedPrompts prompts;
  EXPECT_EQ(prompts.best(Tokens{1, 2}).prompt, nullptr);
}

// The naive twin compares with every prompt.
TEST(SortedPrompts, FindTheLongestCommonBeginningOfAll) {
  Random random(11);
  std::list<RememberedTokens> stored;
  SortedPrompts prompts;
  // Few tokens and some long runs, so that beginnings and whole prompts repeat.
  const auto make = [&random] {
    Tokens tokens(random.below(4) == 0 ? 40 : 0, 1);
    const std::uint64_t more = 1 + random.below(6);
    for (std::uint64_t i = 0; i < more; ++i) tokens.push_back(static_cast<Token>(random.below(3)));
    return tokens;
  };
  for (int step = 0; step < 4'000; ++step) {
    if (!stored.empty() && random.below(3) == 0) {
      auto victim = stored.begin();
      std::advance(victim, static_cast<std::ptrdiff_t>(random.below(stored.size())));
      prompts.erase(*victim);
      stored.erase(victim);
    } else {
      prompts.insert(stored.emplace_back(RememberedTokens{make()}));
    }
    const Tokens wanted = make();
    std::size_t most = 0;
    for (const RememberedTokens& one : stored) {
      most = std::max(most, common_prefix(one.tokens, wanted));
    }
    const SortedPrompts::Match best = prompts.best(wanted);
    ASSERT_EQ(best.prompt == nullptr, stored.empty());
    ASSERT_EQ(best.tokens, most) << "step " << step;
    if (best.prompt == nullptr) continue;
    ASSERT_EQ(common_prefix(best.prompt->tokens, wanted), most);
  }
}

}  // namespace
}  // namespace zerohop

#include "constrain/regex_algebra.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "constrain/regex_twin.h"

namespace zerohop {
namespace {

class RegexAlgebra : public testing::Test {
 protected:
  RegexTerm letter(char32_t code_point) {
    return pool_.one_of(CodePointSet{{code_point, code_point}});
  }
  bool matches(RegexTerm term, std::u32string_view word) {
    for (const char32_t read : word) {
      for (const auto& [set, rest] : derivatives(pool_, term)) {
        if (!set.contains(read)) continue;
        term = rest;
        break;
      }
    }
    return pool_.nullable(term);
  }

  RegexPool pool_;
};

TEST_F(RegexAlgebra, DerivativesAgreeWithTheObviousMatcher) {
  const std::vector<std::u32string> words = all_words(5);
  Random random(7);
  for (int round = 0; round < 400; ++round) {
    const auto twin = RegexTwin::random(random, 4);
    const RegexTerm term = twin->build(pool_);
    for (const std::u32string& word : words) {
      ASSERT_EQ(matches(term, word), twin->matches(word)) << round;
    }
  }
  EXPECT_FALSE(pool_.exhausted());
}

TEST_F(RegexAlgebra, ClassesAreDisjointAndCoverEverything) {
  Random random(8);
  for (int round = 0; round < 500; ++round) {
    const RegexTerm term = RegexTwin::random(random, 5)->build(pool_);
    std::size_t members = 0;
    CodePointSet all;
    for (const auto& [set, rest] : derivatives(pool_, term)) {
      members += set.size();
      all = all | set;
    }
    ASSERT_EQ(all, CodePointSet::all());
    ASSERT_EQ(members, all.size());
  }
}

TEST_F(RegexAlgebra, EqualTermsAreOne) {
  const RegexTerm a = letter(U'a');
  const RegexTerm b = pool_.text(U"bb");
  const RegexTerm c = pool_.text(U"cc");
  EXPECT_EQ(pool_.either(a, pool_.either(b, c)), pool_.either(pool_.either(c, a), b));
  EXPECT_EQ(pool_.both(a, pool_.both(b, c)), pool_.both(pool_.both(c, a), b));
  EXPECT_EQ(pool_.concat(a, pool_.concat(b, c)), pool_.concat(pool_.concat(a, b), c));
  EXPECT_EQ(pool_.either(b, b), b);
  EXPECT_EQ(pool_.either(b, pool_.nothing()), b);
  EXPECT_EQ(pool_.either(b, pool_.any()), pool_.any());
  EXPECT_EQ(pool_.either(b, pool_.complement(b)), pool_.any());
  EXPECT_EQ(pool_.both(b, pool_.any()), b);
  EXPECT_EQ(pool_.both(b, pool_.complement(b)), pool_.nothing());
  EXPECT_EQ(pool_.both(b, pool_.empty()), pool_.nothing());
  EXPECT_EQ(pool_.either(b, pool_.both(b, c)), b);
  EXPECT_EQ(pool_.both(b, pool_.either(b, c)), b);
  EXPECT_EQ(pool_.complement(pool_.complement(b)), b);
  EXPECT_EQ(pool_.concat(b, pool_.nothing()), pool_.nothing());
  EXPECT_EQ(pool_.concat(pool_.any(), pool_.concat(pool_.any(), b)), pool_.concat(pool_.any(), b));
  EXPECT_EQ(pool_.either(letter(U'a'), letter(U'b')), pool_.one_of(CodePointSet{{U'a', U'b'}}));
  EXPECT_EQ(pool_.either_of({}), pool_.nothing());
  EXPECT_EQ(pool_.both_of({}), pool_.any());
  EXPECT_EQ(pool_.concat_of({a, b, c}), pool_.concat(pool_.concat(a, b), c));
  EXPECT_EQ(pool_.concat_of({}), pool_.empty());
}

TEST_F(RegexAlgebra, RepetitionsAreSimplified) {
  const RegexTerm a = letter(U'a');
  const RegexTerm star = pool_.repeat(a, 0, RegexPool::kNoBound);
  EXPECT_EQ(pool_.repeat(star, 0, RegexPool::kNoBound), star);
  EXPECT_EQ(pool_.repeat(pool_.repeat(star, 3, 7), 2, RegexPool::kNoBound), star);
  EXPECT_EQ(pool_.repeat(a, 1, 1), a);
  EXPECT_EQ(pool_.repeat(a, 0, 0), pool_.empty());
  EXPECT_EQ(pool_.repeat(pool_.repeat(a, 0, 2), 0, 3), pool_.repeat(a, 0, 6));
  EXPECT_EQ(pool_.repeat(pool_.repeat(a, 1, 2), 2, 3), pool_.repeat(a, 2, 6));
  EXPECT_NE(pool_.repeat(pool_.repeat(a, 3, 4), 2, 3), pool_.repeat(a, 6, 12));
  EXPECT_EQ(pool_.either(pool_.repeat(a, 0, 3), pool_.repeat(a, 4, 9)), pool_.repeat(a, 0, 9));
  EXPECT_NE(pool_.either(pool_.repeat(a, 0, 3), pool_.repeat(a, 5, 9)), pool_.repeat(a, 0, 9));
  EXPECT_EQ(pool_.repeat(pool_.one_of(CodePointSet::all()), 0, RegexPool::kNoBound), pool_.any());
}

TEST_F(RegexAlgebra, ACounterIsOneTerm) {
  const std::size_t before = pool_.memory_bytes();
  const RegexTerm million = pool_.repeat(pool_.text(U"ab"), 1'000'000, 2'000'000'000);
  EXPECT_LT(pool_.memory_bytes() - before, 2'000u);
  EXPECT_FALSE(matches(million, U"abab"));
}

TEST_F(RegexAlgebra, UntilIsATemperedRepetition) {
  // ((?!bb)[ab])*a
  const RegexTerm ab = pool_.one_of(CodePointSet{{U'a', U'b'}});
  const RegexTerm free = pool_.both(pool_.concat(ab, pool_.any()),
                                    pool_.complement(pool_.concat(pool_.text(U"bb"), pool_.any())));
  const RegexTerm term = pool_.until(free, letter(U'a'));
  for (const std::u32string& word : all_words(6)) {
    const bool wanted = word.ends_with(U"a") && word.find(U"bb") == word.npos &&
                        word.find(U'\U00010000') == word.npos;
    EXPECT_EQ(matches(term, word), wanted);
  }
}

TEST_F(RegexAlgebra, LengthsAreTakenOutOfIntersections) {
  const RegexTerm character = pool_.one_of(CodePointSet::all());
  const RegexTerm name = pool_.concat(letter(U'a'), pool_.any());
  const auto counted =
      pool_.split_length(pool_.both_of({name, pool_.repeat(character, 2, 100'000),
                                        pool_.repeat(character, 5, RegexPool::kNoBound)}));
  EXPECT_EQ(counted.rest, name);
  EXPECT_EQ(counted.min, 5u);
  EXPECT_EQ(counted.max, 100'000u);
  const auto impossible = pool_.split_length(
      pool_.both_of({name, pool_.repeat(character, 2, 3), pool_.repeat(character, 5, 7)}));
  EXPECT_EQ(impossible.rest, pool_.nothing());
}

TEST(RegexPool, SaysWhenItIsUsedUp) {
  RegexPool pool(100);
  const std::u32string word(1'000, U'a');
  const RegexTerm term = pool.text(word + U"b");
  EXPECT_TRUE(pool.exhausted());
  // Whatever the term is, it can be worked with.
  EXPECT_NO_FATAL_FAILURE(derivatives(pool, pool.complement(pool.either(term, pool.any()))));
}

TEST(RegexPool, RefusesNestingThatWouldOverflowTheStack) {
  RegexPool pool;
  const CodePointSet a{{U'a', U'a'}};
  RegexTerm term = pool.text(U"ab");
  for (int depth = 0; depth < 5'000; ++depth) {
    term = pool.concat(pool.complement(term), pool.one_of(a));
  }
  EXPECT_TRUE(pool.exhausted());
}

TEST(RegexPool, AChainIsNoNesting) {
  RegexPool pool;
  RegexTerm term = pool.empty();
  for (int i = 0; i < 5'000; ++i) {
    term = pool.concat(pool.repeat(pool.text(i % 2 == 0 ? U"ab" : U"cd"), 0, 1), term);
  }
  EXPECT_FALSE(pool.exhausted());
  EXPECT_EQ(pool.live_derivatives(term).size(), 2u);
}

}  // namespace
}  // namespace zerohop

#include "constrain/content_automaton.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "constrain/regex_syntax.h"
#include "constrain/regex_twin.h"

namespace zerohop {
namespace {

using Length = ContentAutomaton::Length;

std::shared_ptr<ContentAutomaton> make(RegexPool& pool, RegexTerm term, const Length& length = {}) {
  auto made = ContentAutomaton::make(pool, term, length, {});
  EXPECT_TRUE(made.ok());
  return std::move(made).value();
}

TEST(ContentAutomaton, AgreesWithTheObviousMatcherOnAllShortWords) {
  const std::vector<std::u32string> words = all_words(5);
  const std::vector<std::u32string> probes = all_words(4);
  Random random(1);
  std::size_t empty = 0;
  for (int round = 0; round < 1500; ++round) {
    const auto twin = RegexTwin::random(random, 4);
    Length length;
    if (random.below(2) == 0) {
      length.min = static_cast<std::uint32_t>(random.below(4));
      if (random.below(2) == 0)
        length.max = length.min + static_cast<std::uint32_t>(random.below(3));
    }
    RegexPool pool;
    const auto automaton = make(pool, twin->build(pool), length);
    std::vector<std::u32string> in;
    for (const std::u32string& word : words) {
      if (word.size() >= length.min && word.size() <= length.max && twin->matches(word)) {
        in.push_back(word);
      }
    }
    empty += automaton->empty() ? 1 : 0;
    for (const std::u32string& word : words) {
      ASSERT_EQ(automaton->contains(word), std::ranges::find(in, word) != in.end()) << round;
    }
    for (const std::u32string& word : probes) {
      const bool begins = std::ranges::any_of(
          in, [&](const std::u32string& whole) { return whole.starts_with(word); });
      const std::uint32_t state = automaton->walk(word);
      if (begins) {
        ASSERT_NE(state, ContentAutomaton::kNoState) << round;
      }
      if (length.max <= 5) {
        ASSERT_EQ(state != ContentAutomaton::kNoState, begins) << round;
      }
      if (state == ContentAutomaton::kNoState) continue;
      const auto count = static_cast<std::uint32_t>(word.size());
      const std::u32string end = automaton->shortest_end(state, count);
      ASSERT_EQ(end.size(), automaton->shortest_length(state, count));
      ASSERT_TRUE(automaton->contains(word + end)) << round;
      for (const std::u32string& whole : in) {
        if (whole.starts_with(word)) {
          ASSERT_LE(word.size() + end.size(), whole.size()) << round;
        }
      }
    }
  }
  EXPECT_LT(empty, 700u);
}

std::shared_ptr<ContentAutomaton> of_pattern(std::string_view pattern, const Length& length = {}) {
  RegexPool pool;
  return make(pool, *parse_ecma_pattern(pool, pattern), length);
}

TEST(ContentAutomaton, CanStepWhereSomeCharacterCan) {
  Random random(2);
  constexpr char32_t kLetters[] = {0, U'a', U'b', U'c', 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff};
  for (int round = 0; round < 400; ++round) {
    RegexPool pool;
    const Length length{.min = static_cast<std::uint32_t>(random.below(3)), .max = 4};
    const auto automaton = make(pool, RegexTwin::random(random, 4)->build(pool), length);
    if (automaton->empty()) continue;
    for (std::size_t first = 0; first < std::size(kLetters); ++first) {
      for (std::size_t last = first; last < std::size(kLetters); ++last) {
        // Languages tell apart only a, b and U+10000, so these letters stand for all others.
        bool possible = false;
        for (std::size_t i = first; i <= last; ++i) {
          const std::uint32_t next = automaton->step(automaton->start(), kLetters[i]);
          possible = possible || (next != ContentAutomaton::kNoState && automaton->live(next, 1));
        }
        ASSERT_EQ(automaton->can_step(automaton->start(), 0, kLetters[first], kLetters[last]),
                  possible)
            << round << " " << first << " " << last;
      }
    }
  }
}

TEST(ContentAutomaton, SurrogatesLeadNowhere) {
  const auto automaton = of_pattern("");
  EXPECT_EQ(automaton->step(automaton->start(), 0xd800), ContentAutomaton::kNoState);
  EXPECT_FALSE(automaton->can_step(automaton->start(), 0, 0xd800, 0xdfff));
  EXPECT_TRUE(automaton->can_step(automaton->start(), 0, 0xdfff, 0xe000));
}

TEST(ContentAutomaton, LongLengthsMakeNoStates) {
  const auto any = of_pattern("", {.min = 50'000, .max = 100'000});
  EXPECT_EQ(any->states(), 1u);
  EXPECT_LT(any->memory_bytes(), 4'000u);
  EXPECT_EQ(any->shortest_end(any->start(), 49'998), U"aa");
  EXPECT_FALSE(any->accepts(any->start(), 49'999));
  EXPECT_TRUE(any->live(any->start(), 100'000));
  EXPECT_FALSE(any->live(any->start(), 100'001));
  EXPECT_FALSE(any->can_step(any->start(), 100'000, 0, kCodePointMax));
  EXPECT_EQ(any->characters_max(99'999), 1u);

  EXPECT_EQ(of_pattern("^[a-z]{5,100000}$")->states(), 1u);
  EXPECT_FALSE(of_pattern("^[a-z]{5,100000}$")->contains(U"abcd"));
  EXPECT_TRUE(of_pattern("^[a-z]{5,100000}$")->contains(U"abcde"));
  EXPECT_LT(of_pattern("^(a|bc)+-[0-9]+$", {.min = 10, .max = 100'000})->memory_bytes(), 10'000u);
}

TEST(ContentAutomaton, GapsBetweenLengthsAreKnown) {
  // Lengths 2, 5, 8, …, and 4.
  const auto automaton = of_pattern("^(?:ab(?:cde)*|wxyz)$", {.min = 6, .max = 9});
  EXPECT_EQ(automaton->shortest_end(automaton->start(), 0), U"abcdecde");
  EXPECT_EQ(automaton->walk(U"w"), ContentAutomaton::kNoState);
  EXPECT_EQ(automaton->walk(U"abcdecdec"), ContentAutomaton::kNoState);
  EXPECT_TRUE(of_pattern("^(?:ab(?:cde)*|wxyz)$", {.min = 6, .max = 7})->empty());
  const auto endless = of_pattern("^(?:ab(?:cde)*|wxyz)$", {.min = 99'999});
  EXPECT_EQ(endless->shortest_length(endless->start(), 0), 100'001u);
}

TEST(ContentAutomaton, TheMinimumIsForgottenWhereItDecidesNothing) {
  const auto any = of_pattern("", {.min = 3});
  EXPECT_EQ(any->characters_min(any->start(), 0), 0u);
  const auto mixed = of_pattern("^(?:c*(?:a|b+))$", {.min = 2});
  EXPECT_EQ(mixed->characters_min(mixed->start(), 0), 2u);
  EXPECT_EQ(mixed->walk(U"a"), ContentAutomaton::kNoState);
  EXPECT_NE(mixed->walk(U"ca"), ContentAutomaton::kNoState);
  EXPECT_EQ(mixed->characters_min(mixed->start(), 2), 0u);
}

TEST(ContentAutomaton, CountsAndListsWords) {
  const auto few = of_pattern("^(?:a|b)(?:x?|yz)$");
  EXPECT_EQ(few->count_words(few->start(), 0, 100), 6u);
  EXPECT_EQ(few->words(few->start(), 0, 6),
            (std::vector<std::u32string>{U"a", U"ax", U"ayz", U"b", U"bx", U"byz"}));
  EXPECT_FALSE(few->words(few->start(), 0, 5).has_value());
  const auto many = of_pattern("^.{3}$");
  EXPECT_EQ(many->count_words(many->start(), 0, 1'000), 1'000u);
  const auto endless = of_pattern("^(aa)*b$");
  EXPECT_EQ(endless->count_words(endless->start(), 0, 1'000), 1'000u);
  const auto bounded = of_pattern("^(aa)*b$", {.max = 10'001});
  EXPECT_EQ(bounded->count_words(bounded->start(), 0, 100'000), 5'001u);
  const auto none = of_pattern("^a$", {.min = 2});
  EXPECT_TRUE(none->empty());
}

TEST(ContentAutomaton, WhatIsTooLargeIsRefused) {
  RegexPool pool;
  const auto made =
      ContentAutomaton::make(pool, *parse_ecma_pattern(pool, "^[ab]*a[ab]{13}$"), {}, {});
  ASSERT_TRUE(made.ok());
  EXPECT_EQ((*made)->states(), 16'384u);
  const auto larger =
      ContentAutomaton::make(pool, *parse_ecma_pattern(pool, "^[ab]*a[ab]{40}$"), {}, {});
  ASSERT_FALSE(larger.ok());
  EXPECT_EQ(larger.error().message, "it needs more than 20000 states");
  const auto endless =
      ContentAutomaton::make(pool, *parse_ecma_pattern(pool, "^a{2000000000}$"), {}, {});
  ASSERT_FALSE(endless.ok());
  EXPECT_EQ(endless.error().message, "its shortest text has 2000000000 characters");
}

TEST(ContentAutomaton, EqualLanguagesOfDifferentPoolsHaveOneIdentity) {
  EXPECT_EQ(of_pattern("^(a|b)+$")->identity(), of_pattern("^[ab]+$")->identity());
  EXPECT_NE(of_pattern("^(a|b)+$")->identity(), of_pattern("^(a|c)+$")->identity());
  EXPECT_NE(of_pattern("^a+$", {.max = 5})->identity(), of_pattern("^a+$")->identity());
}

TEST(ContentAutomaton, ReadableEndsArePreferred) {
  const auto any = of_pattern("^[^]{3}$");
  EXPECT_EQ(any->shortest_end(any->start(), 0), U"aaa");
  const auto date = of_pattern("^[0-9]{4}-[0-9]{2}$");
  EXPECT_EQ(date->shortest_end(date->start(), 0), U"0000-00");
}

}  // namespace
}  // namespace zerohop

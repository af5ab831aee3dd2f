#include "constrain/stop_automaton.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "constrain/stop_automaton_oracle.h"

namespace zerohop {
namespace {

using Strings = std::vector<std::string>;

struct Outcome {
  std::string shown;
  std::optional<std::size_t> match;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// Feeds the chunks until a match; flushes when there was none.
Outcome run(const Strings& stops, const Strings& chunks) {
  StopMatcher matcher(StopAutomaton::compile(stops));
  Outcome outcome;
  for (const std::string& chunk : chunks) {
    outcome.match = matcher.feed(chunk, outcome.shown);
    if (outcome.match) return outcome;
  }
  matcher.flush(outcome.shown);
  return outcome;
}

// Every string over `alphabet` with min ≤ length ≤ max.
Strings all_strings(std::string_view alphabet, std::size_t min, std::size_t max) {
  Strings all;
  Strings layer{""};
  for (std::size_t length = 0; length <= max; ++length) {
    if (length >= min) all.insert(all.end(), layer.begin(), layer.end());
    Strings longer;
    for (const std::string& text : layer) {
      for (const char letter : alphabet) longer.push_back(text + letter);
    }
    layer = std::move(longer);
  }
  return all;
}

// Feeds `text` cut after every byte whose bit in `cuts` is set; compares with the oracle after each
// chunk. Returns an empty string when all agrees.
std::string difference(const std::shared_ptr<const StopAutomaton>& automaton, const Strings& stops,
                       const std::string& text, std::uint64_t cuts) {
  StopMatcher matcher(automaton);
  std::string shown;
  std::size_t begin = 0;
  for (std::size_t end = 1; end <= text.size(); ++end) {
    if (end < text.size() && ((cuts >> (end - 1)) & 1) == 0) continue;
    const auto match = matcher.feed(std::string_view(text).substr(begin, end - begin), shown);
    begin = end;
    const StopOracle expected = naive_stop(stops, std::string_view(text).substr(0, end));
    if (match != expected.match) return "match differs on '" + text + "'";
    if (shown != text.substr(0, expected.shown)) return "shown '" + shown + "' of '" + text + "'";
    if (match) return matcher.held().empty() ? "" : "something is held after a match";
    if (matcher.held() != text.substr(expected.shown, end - expected.shown)) {
      return "held '" + std::string(matcher.held()) + "' of '" + text + "'";
    }
  }
  return "";
}

std::string describe(const Strings& stops) {
  std::string text = "stops";
  for (const std::string& stop : stops) text += " '" + stop + "'";
  return text;
}

// All texts up to `text_max` letters with all ways to cut them.
void check_exhaustively(const Strings& stops, std::string_view alphabet, std::size_t text_max) {
  const auto automaton = StopAutomaton::compile(stops);
  for (const std::string& text : all_strings(alphabet, 1, text_max)) {
    for (std::uint64_t cuts = 0; cuts < (1ull << (text.size() - 1)); ++cuts) {
      const std::string fault = difference(automaton, stops, text, cuts);
      ASSERT_EQ(fault, "") << describe(stops) << ", cuts " << cuts;
    }
  }
}

TEST(StopMatcher, AgreesWithTheOracleOnAllPairsOverTwoLetters) {
  const Strings words = all_strings("ab", 1, 3);
  for (const std::string& first : words) {
    check_exhaustively({first}, "ab", 6);
    for (const std::string& second : words) check_exhaustively({first, second}, "ab", 6);
  }
}

TEST(StopMatcher, AgreesWithTheOracleOnAllTriplesOfShortStops) {
  const Strings words = all_strings("ab", 1, 2);
  for (const std::string& first : words) {
    for (const std::string& second : words) {
      for (const std::string& third : words) check_exhaustively({first, second, third}, "ab", 5);
    }
  }
}

TEST(StopMatcher, AgreesWithTheOracleOnPairsOverThreeLetters) {
  const Strings words = all_strings("abc", 1, 2);
  for (const std::string& first : words) {
    for (const std::string& second : words) check_exhaustively({first, second}, "abc", 5);
  }
}

TEST(StopMatcher, AgreesWithTheOracleOnRandomData) {
  Random random(20260101);
  const auto text_of = [&](std::size_t length, std::uint64_t letters) {
    std::string text;
    while (text.size() < length) text.push_back(static_cast<char>('a' + random.below(letters)));
    return text;
  };
  for (int round = 0; round < 3'000; ++round) {
    const std::uint64_t letters = 1 + random.below(4);
    Strings stops;
    for (std::uint64_t count = 1 + random.below(8); count > 0; --count) {
      stops.push_back(text_of(1 + random.below(9), letters));
    }
    const std::string text = text_of(1 + random.below(60), letters + random.below(2));
    const std::string fault = difference(StopAutomaton::compile(stops), stops, text, random.next());
    ASSERT_EQ(fault, "") << describe(stops) << ", round " << round;
  }
}

TEST(StopMatcher, ShowsEverythingWhenThereAreNoStops) {
  EXPECT_EQ(run({}, {"some ", "text"}), (Outcome{"some text", std::nullopt}));
}

TEST(StopMatcher, FindsAStopAcrossTokenBorders) {
  EXPECT_EQ(run({"\n\nHuman:"}, {"Hi.\n", "\nHu", "man", ": you"}), (Outcome{"Hi.", 0}));
}

TEST(StopMatcher, ShowsTextThatOnlyBeganLikeAStop) {
  EXPECT_EQ(run({"</answer>"}, {"a </ans", "wers> b"}), (Outcome{"a </answers> b", std::nullopt}));
}

TEST(StopMatcher, HoldsBackNoMoreThanCouldBecomeAMatch) {
  StopMatcher matcher(StopAutomaton::compile(Strings{"abab!"}));
  std::string shown;
  EXPECT_EQ(matcher.feed("xaba", shown), std::nullopt);
  EXPECT_EQ(shown, "x");
  EXPECT_EQ(matcher.held(), "aba");
  EXPECT_EQ(matcher.feed("a", shown), std::nullopt);
  EXPECT_EQ(shown, "xaba");
  EXPECT_EQ(matcher.held(), "a");
}

TEST(StopMatcher, ReleasesWhatIsHeldAtTheEnd) {
  EXPECT_EQ(run({"END"}, {"the EN"}), (Outcome{"the EN", std::nullopt}));
}

TEST(StopMatcher, LetsTheOrderOfTheArrayDecideAtTheSameEnd) {
  EXPECT_EQ(run({"ab", "b"}, {"xab"}), (Outcome{"x", 0}));
  EXPECT_EQ(run({"b", "ab"}, {"xab"}), (Outcome{"xa", 0}));
  EXPECT_EQ(run({"cab", "b", "ab"}, {"xab"}), (Outcome{"xa", 1}));
}

TEST(StopMatcher, LetsTheEarliestEndWin) {
  EXPECT_EQ(run({"abcd", "bc"}, {"abcd"}), (Outcome{"a", 1}));
  EXPECT_EQ(run({"abcd", "bc"}, {"a", "b", "c", "d"}), (Outcome{"a", 1}));
}

TEST(StopMatcher, NamesTheFirstOfTwoEqualStops) {
  EXPECT_EQ(run({"x", "stop", "stop"}, {"a stop"}), (Outcome{"a ", 1}));
}

TEST(StopMatcher, FindsAStopThatIsTheWholeOutput) {
  EXPECT_EQ(run({"done"}, {"do", "ne"}), (Outcome{"", 0}));
}

TEST(StopMatcher, FindsAStopOfManyByteCharactersCutAnywhere) {
  const std::string stop = "\xe7\xbb\x93\xe6\x9d\x9f";  // two characters of three bytes
  const std::string text = "\xe7\xbb\x86" + stop;       // the first shares two bytes with the stop
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(run({stop}, {text.substr(0, cut), text.substr(cut)}), (Outcome{"\xe7\xbb\x86", 0}))
        << cut;
  }
}

TEST(StopMatcher, MatchesZeroAndHighBytes) {
  const std::string stop("\0\xff", 2);
  EXPECT_EQ(run({stop}, {std::string("\0\0", 2), "\xff"}), (Outcome{std::string("\0", 1), 0}));
}

TEST(StopMatcher, TakesEmptyChunks) {
  EXPECT_EQ(run({"ab"}, {"", "a", "", "b"}), (Outcome{"", 0}));
}

TEST(StopAutomaton, HasOneStatePerDistinctPrefix) {
  const auto automaton = StopAutomaton::compile(Strings{"abc", "abd", "b"});
  EXPECT_EQ(automaton->state_count(), 6u);  // "", a, b, ab, abc, abd
}

TEST(StopAutomaton, FitsTheLargestRequestIntoOneStatePerByte) {
  Strings stops;
  for (char i = 0; i < 64; ++i) stops.push_back(std::string(1, i) + std::string(1'023, 'z'));
  const auto automaton = StopAutomaton::compile(stops);
  EXPECT_EQ(automaton->state_count(), 64u * 1'024u + 1u);
  StopMatcher matcher(automaton);
  std::string shown;
  EXPECT_EQ(matcher.feed("?" + stops[63], shown), 63u);
  EXPECT_EQ(shown, "?");
}

TEST(StopAutomatonDeathTest, RefusesAnEmptyStop) {
  EXPECT_DEATH(StopAutomaton::compile(Strings{"a", ""}), "check failed");
}

}  // namespace
}  // namespace zerohop

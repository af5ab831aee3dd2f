#include "constrain/grammar_machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"

namespace zerohop {
namespace {

using Machine = std::unique_ptr<ConstraintMachine>;

constexpr std::size_t kLength = 6;
constexpr std::string_view kAlphabet = "ab";

// Terminals 0 and 1 are a and b.
Grammar over_alphabet(std::vector<std::vector<Grammar::Sequence>> rules) {
  Grammar grammar;
  RegexPool pool;
  for (const char32_t letter : {U'a', U'b'}) {
    auto made = make_terminal(pool, pool.text(std::u32string(1, letter)), 10);
    EXPECT_TRUE(made.ok());
    grammar.terminals.push_back(std::move(made).value());
  }
  for (auto& alternatives : rules) {
    grammar.rules.push_back({.name = "r", .alternatives = std::move(alternatives)});
  }
  return grammar;
}

// All words of at most kLength letters, by the rules again and again until nothing is new.
std::set<std::string> words_of(const Grammar& grammar) {
  std::vector<std::set<std::string>> words(grammar.rules.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t rule = 0; rule < words.size(); ++rule) {
      for (const Grammar::Sequence& sequence : grammar.rules[rule].alternatives) {
        std::set<std::string> made = {""};
        for (const GrammarSymbol& symbol : sequence) {
          std::set<std::string> longer;
          const std::set<std::string> letter = {std::string(1, kAlphabet[symbol.index % 2])};
          const bool is_rule = symbol.kind == GrammarSymbol::Kind::kRule;
          for (const std::string& front : made) {
            for (const std::string& back : is_rule ? words[symbol.index] : letter) {
              if (front.size() + back.size() <= kLength) longer.insert(front + back);
            }
          }
          made = std::move(longer);
        }
        for (const std::string& word : made) changed = words[rule].insert(word).second || changed;
      }
    }
  }
  return words[grammar.start];
}

// Every text of at most kLength letters: accepted exactly if it is a word, alive if one begins so,
// and what is said to be the shortest rest is.
void compare_with_words(ConstraintMachine& machine, const std::set<std::string>& words,
                        std::string& text, MachineState state) {
  ASSERT_EQ(machine.accepting(state), words.contains(text)) << text;
  std::size_t least = SIZE_MAX;
  for (const std::string& word : words) {
    if (word.compare(0, text.size(), text) == 0) least = std::min(least, word.size());
  }
  const std::string end = machine.shortest_end(state);
  ASSERT_EQ(end.size(), machine.shortest_end_bytes(state));
  if (text.size() + end.size() <= kLength) {
    ASSERT_EQ(text.size() + end.size(), least) << text;
    ASSERT_TRUE(words.contains(text + end)) << text << " and " << end;
  } else {
    ASSERT_EQ(least, SIZE_MAX) << text;
  }
  const MachineState last = step_all(machine, state, end);
  ASSERT_NE(last, kDeadState);
  ASSERT_TRUE(machine.accepting(last));
  if (text.size() == kLength) return;
  for (const char letter : kAlphabet) {
    text.push_back(letter);
    const MachineState next = machine.step(state, static_cast<unsigned char>(letter));
    if (next != kDeadState) {
      compare_with_words(machine, words, text, next);
    } else {
      for (const std::string& word : words)
        ASSERT_NE(word.compare(0, text.size(), text), 0) << text;
    }
    text.pop_back();
    if (::testing::Test::HasFatalFailure()) return;
  }
  ASSERT_EQ(machine.step(state, 'c'), kDeadState);
}

void check(const Grammar& grammar) {
  auto made = make_grammar_machine(grammar);
  if (!made.ok()) {
    EXPECT_FALSE(productive_rules(grammar)[grammar.start]) << made.error().message;
    return;
  }
  std::string text;
  compare_with_words(**made, words_of(grammar), text, (*made)->start());
}

const GrammarSymbol kA = terminal_symbol(0);
const GrammarSymbol kB = terminal_symbol(1);

TEST(GrammarMachine, FollowsRecursionOnEitherSideAndInTheMiddle) {
  const GrammarSymbol s = rule_symbol(0);
  const GrammarSymbol t = rule_symbol(1);
  check(over_alphabet({{{s, kA}, {kB}}}));
  check(over_alphabet({{{kA, s}, {kB}}}));
  check(over_alphabet({{{kA, s, kB}, {}}}));
  check(over_alphabet({{{s, s}, {kA}, {kB, s, kB}}}));
  check(over_alphabet({{{s, s}, {}, {kA}}}));
  check(over_alphabet({{{s}, {kA}}}));
  check(over_alphabet({{{t, kA}, {kA}}, {{s, kB}, {kB}}}));  // left, through another
  check(over_alphabet({{{t}, {kA, kA}}, {{s}, {kB}}}));      // a circle of ends
  check(over_alphabet({{{t, t, s}, {kA}}, {{}, {kB}}}));     // hidden left
  check(over_alphabet({{{kA, t}, {kB, t}}, {{}, {kA, s}}}));
}

TEST(GrammarMachine, EqualsAllDerivationsOfRandomGrammars) {
  Random random(11);
  for (int round = 0; round < 400; ++round) {
    const std::uint64_t rules = 1 + random.below(4);
    std::vector<std::vector<Grammar::Sequence>> all(rules);
    for (auto& alternatives : all) {
      alternatives.resize(1 + random.below(3));
      for (Grammar::Sequence& sequence : alternatives) {
        for (std::uint64_t size = random.below(4); size > 0; --size) {
          const std::uint64_t pick = random.below(2 + rules);
          sequence.push_back(pick < 2 ? terminal_symbol(static_cast<std::uint32_t>(pick))
                                      : rule_symbol(static_cast<std::uint32_t>(pick - 2)));
        }
      }
    }
    check(over_alphabet(all));
    if (::testing::Test::HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST(GrammarMachine, RightAndLeftRecursionReachNoNewStates) {
  const GrammarSymbol s = rule_symbol(0);
  for (const Grammar& grammar :
       {over_alphabet({{{s, kA}, {kB}}}), over_alphabet({{{kA, s}, {kB}}})}) {
    const Machine machine = std::move(make_grammar_machine(grammar)).value();
    MachineState state = machine->start();
    const bool right = machine->step(state, 'a') != kDeadState;
    if (!right) state = machine->step(state, 'b');
    state = machine->step(state, 'a');
    const MachineState again = step_all(*machine, state, "aaaaaaaa");
    EXPECT_EQ(again, machine->step(again, 'a'));
    EXPECT_EQ(again, machine->step(machine->step(again, 'a'), 'a'));
  }
}

// The bits of `number`, behind an a.
Grammar::Sequence word_of(std::size_t number) {
  constexpr std::size_t kBits = 12;
  Grammar::Sequence word = {kA};
  for (std::size_t bit = kBits; bit-- > 0;) word.push_back((number >> bit & 1) != 0 ? kB : kA);
  return word;
}

TEST(GrammarMachine, ForbidsTextsBeyondItsReadingsAndStaysFinishable) {
  constexpr std::size_t kWords = kReadingsMax + 500;
  std::vector<Grammar::Sequence> words;
  for (std::size_t i = 0; i < kWords; ++i) words.push_back(word_of(i));
  const Machine machine = std::move(make_grammar_machine(over_alphabet({words}))).value();
  for (std::size_t i = 0; i < kWords; ++i) {
    MachineState state = machine->start();
    for (const GrammarSymbol& symbol : words[i]) {
      state = machine->step(state, static_cast<unsigned char>(kAlphabet[symbol.index]));
      if (state == kDeadState) break;
      const MachineState last = step_all(*machine, state, machine->shortest_end(state));
      ASSERT_NE(last, kDeadState);
      ASSERT_TRUE(machine->accepting(last));
    }
    ASSERT_EQ(state != kDeadState, i < kReadingsMax) << i;
  }
}

TEST(GrammarMachine, KeepsThoseOfTooManyReadingsThatEndFirst) {
  std::vector<Grammar::Sequence> words;
  for (std::size_t i = 0; i < kReadingsMax; ++i) words.push_back(word_of(i));  // begin with "aa"
  words.push_back({kA, kB});
  const Machine machine = std::move(make_grammar_machine(over_alphabet({words}))).value();
  EXPECT_EQ(machine->shortest_end(machine->start()), "ab");
  const MachineState behind = machine->step(machine->start(), 'a');
  EXPECT_EQ(machine->shortest_end(behind), "b");
  EXPECT_TRUE(accepts(*machine, "ab"));
}

// What a cache of machines counts must be what they hold, or it holds too many of them.
TEST(GrammarMachine, CountsItsTablesAndAutomata) {
  const Machine small = std::move(make_regex_machine("a")).value();
  const Machine large = std::move(make_regex_machine("^[ab]*a[ab]{10}$")).value();
  constexpr std::size_t kStates = 1 << 11;
  EXPECT_GT(large->memory_bytes(), small->memory_bytes() + kStates * 2 * sizeof(std::uint32_t));
  std::vector<std::string> texts;
  for (int i = 0; i < 1000; ++i) texts.push_back(std::to_string(i * 7919) + std::string(100, 'x'));
  const Machine choice = std::move(make_choice_machine(texts)).value();
  EXPECT_GT(choice->memory_bytes(), small->memory_bytes() + 1000U * 32U);
}

// Each rule of a chain goes on to the next one or calls itself; only the last one is empty. Work
// that grows with the square of the symbols makes this test ten times as slow, and the next one
// take more than a minute.
TEST(GrammarMachine, TakesAChainOfAsManyRecursiveRulesAsAreAllowed) {
  std::vector<std::vector<Grammar::Sequence>> rules;
  for (std::uint32_t i = 0; i + 1 < kGrammarRulesMax; ++i) {
    rules.push_back({{rule_symbol(i + 1)}, {kA, rule_symbol(i), kB}});
  }
  rules.push_back({{}});
  const Machine machine = std::move(make_grammar_machine(over_alphabet(rules))).value();
  EXPECT_TRUE(machine->accepting(machine->start()));
  EXPECT_EQ(machine->shortest_end(machine->step(machine->start(), 'a')), "b");
  rules.emplace_back();
  EXPECT_FALSE(make_grammar_machine(over_alphabet(rules)).ok());
}

TEST(GrammarMachine, TakesOneLongAlternativeOfManyRules) {
  constexpr std::uint32_t kWords = 9'000;
  constexpr std::size_t kTimes = 20;
  std::vector<std::vector<Grammar::Sequence>> rules(1 + kWords, {{kA}});
  Grammar::Sequence all;
  for (std::uint32_t word = kWords; word > 0; --word)
    all.insert(all.end(), kTimes, rule_symbol(word));
  rules[0] = {all};
  const Grammar grammar = over_alphabet(rules);
  const std::vector<bool> productive = productive_rules(grammar);
  EXPECT_EQ(std::count(productive.begin(), productive.end(), true), 1 + kWords);
  const Machine machine = std::move(make_grammar_machine(grammar)).value();
  EXPECT_EQ(machine->shortest_end_bytes(machine->start()), kWords * kTimes);
}

TEST(GrammarMachine, StaysFinishableInALongAmbiguousText) {
  const GrammarSymbol s = rule_symbol(0);
  const Machine machine =
      std::move(make_grammar_machine(over_alphabet({{{s, s}, {s, kA, s}, {kA}, {kA, s, kB}}})))
          .value();
  MachineState state = machine->start();
  for (int i = 0; i < 200; ++i) {
    state = machine->step(state, 'a');
    ASSERT_NE(state, kDeadState);
    const MachineState last = step_all(*machine, state, machine->shortest_end(state));
    ASSERT_NE(last, kDeadState);
    ASSERT_TRUE(machine->accepting(last));
  }
}

TEST(GrammarMachine, SaysWhatIsForcedAndStartsAnew) {
  const Machine machine = std::move(make_choice_machine({"alpha", "alpine", "bä"})).value();
  EXPECT_EQ(machine->forced(machine->start(), 10), "");
  const MachineState a = machine->step(machine->start(), 'a');
  EXPECT_EQ(machine->forced(a, 10), "lp");
  EXPECT_EQ(machine->forced(a, 1), "l");
  EXPECT_EQ(machine->forced(machine->step(machine->start(), 'b'), 10), "\xc3\xa4");
  EXPECT_EQ(machine->shortest_end(machine->start()), "b\xc3\xa4");
  const Machine fresh = machine->renew();
  EXPECT_NE(step_all(*fresh, fresh->start(), "alpine"), kDeadState);
  EXPECT_GT(machine->memory_bytes(), 0U);
}

TEST(ChoiceMachine, TakesOneOfTheTextsExactly) {
  const Machine machine = std::move(make_choice_machine({"foo", "foobar", "", "foo"})).value();
  for (const std::string_view text : {"foo", "foobar", ""}) EXPECT_TRUE(accepts(*machine, text));
  for (const std::string_view text : {"fo", "foob", "foobarx"})
    EXPECT_FALSE(accepts(*machine, text));
  EXPECT_EQ(step_all(*machine, machine->start(), "foox"), kDeadState);
  EXPECT_FALSE(make_choice_machine({}).ok());
  EXPECT_FALSE(make_choice_machine({"\xff"}).ok());
}

TEST(RegexMachine, MatchesTheWholeText) {
  const Machine machine = std::move(make_regex_machine("[a-c]{2,3}(-\\d+)*é?")).value();
  for (const std::string_view text : {"ab", "abc", "ab-1-22", "cc\xc3\xa9"}) {
    EXPECT_TRUE(accepts(*machine, text)) << text;
  }
  for (const std::string_view text : {"a", "abca", "ab-", "ab-1x"}) {
    EXPECT_FALSE(accepts(*machine, text)) << text;
  }
  EXPECT_TRUE(accepts(**make_regex_machine("a*"), ""));
  EXPECT_FALSE(make_regex_machine("(").ok());
  EXPECT_FALSE(make_regex_machine("a(?!.*)").ok());
}

TEST(RegexMachine, LongRepetitionsMakeNoNewStates) {
  const Machine machine = std::move(make_regex_machine("[a-z]+")).value();
  const MachineState state = machine->step(machine->start(), 'q');
  EXPECT_EQ(step_all(*machine, state, std::string(1000, 'x')), state);
  const Machine bounded = std::move(make_regex_machine("[a-z]{1,100000}")).value();
  EXPECT_TRUE(accepts(*bounded, std::string(1000, 'x')));
}

}  // namespace
}  // namespace zerohop

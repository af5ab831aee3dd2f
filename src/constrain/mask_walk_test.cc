// Masks inside of strings: shared by content, split at the closing quote.
#include "constrain/mask_walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "constrain/constraint_test_kit.h"
#include "constrain/grammar_machine.h"
#include "constrain/grammar_syntax.h"
#include "constrain/json_machine.h"
#include "constrain/mask_cache.h"
#include "constrain/regex_algebra.h"
#include "constrain/schema_compiler.h"

namespace zerohop {
namespace {

// "content" with a comma or a bracket behind it, again and again: ("…",)*"…"]
class StringsMachine final : public ConstraintMachine {
 public:
  enum class Behind { kKnown, kUnknown };

  StringsMachine(std::shared_ptr<ContentAutomaton> automaton, TextCoding coding, Behind behind)
      : automaton_(std::move(automaton)), decoder_(*automaton_, coding), behind_(behind) {}

  MachineState start() override { return 1; }
  MachineState step(MachineState state, unsigned char byte) override {
    if (state == 1) return byte == '"' ? number(decoder_.start()) : kDeadState;
    if (state == 2) return byte == ',' ? 1 : byte == ']' ? 3 : kDeadState;
    if (state == 3) return kDeadState;
    ContentPlace place = places_[state - 4];
    if (byte == '"' && decoder_.accepts(place)) return 2;
    return decoder_.step(place, byte) ? number(place) : kDeadState;
  }
  bool accepting(MachineState state) override { return state == 3; }
  std::string shortest_end(MachineState state) override {
    if (state == 3) return {};
    if (state == 2) return "]";
    const ContentPlace place = state == 1 ? decoder_.start() : places_[state - 4];
    return (state == 1 ? "\"" : "") + decoder_.shortest_end(place) + "\"]";
  }
  std::size_t shortest_end_bytes(MachineState state) override { return shortest_end(state).size(); }
  std::string forced(MachineState, std::size_t) override { return {}; }
  std::optional<ContentRun> content(MachineState state) override {
    if (state < 4) return std::nullopt;
    const ContentPlace& place = places_[state - 4];
    if (!decoder_.at_character_border(place) ||
        automaton_->characters_min(place.state, place.count) != 0) {
      return std::nullopt;
    }
    ++runs;
    return ContentRun{.automaton = automaton_.get(),
                      .state = place.state,
                      .characters_max = automaton_->characters_max(place.count),
                      .coding = decoder_.coding(),
                      .leaving = '"',
                      .behind = behind_ == Behind::kKnown ? 2u : kDeadState,
                      .count = place.count};
  }
  std::size_t memory_bytes() const override { return places_.size() * sizeof(ContentPlace); }
  std::unique_ptr<ConstraintMachine> renew() const override {
    return std::make_unique<StringsMachine>(automaton_, decoder_.coding(), behind_);
  }

  int runs = 0;

 private:
  MachineState number(const ContentPlace& place) {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i] == place) return static_cast<MachineState>(i + 4);
    }
    places_.push_back(place);
    return static_cast<MachineState>(places_.size() + 3);
  }

  std::shared_ptr<ContentAutomaton> automaton_;
  ContentDecoder decoder_;
  Behind behind_;
  std::vector<ContentPlace> places_;
};

const std::vector<std::string> kWords{
    "ab",       "abc",      "abab",   "\"",    "\",",   "a\",\"b", "ab\"]",    "\"]",
    "\",\"",    "é",        "aé",     "éa",    "\xc3",  "\xa9",    "b\xc3",    "日本",
    "\xe6\x97", "\xf0\x9f", "\\n",    "\\n\\", "\\u00", "\\u00e9", "\\ud83d",  "\\\"",
    "\\\"\"",   "a\n",      "abcdef", "  ",    "a\"",   "aaaa\",", "\\u0041b", "\xa9\",\"",
    "abcdefgh", "x\"]x",    "\"\"",   "a\"b\""};

std::shared_ptr<ContentAutomaton> automaton_of(int which, const ContentAutomaton::Length& length) {
  RegexPool pool;
  const RegexTerm letters = pool.one_of(CodePointSet{{'a', 'c'}, {0xe9, 0xe9}});
  const RegexTerm pairs = pool.repeat(pool.concat(letters, letters), 0, RegexPool::kNoBound);
  const RegexTerm term = which == 0   ? pool.any()
                         : which == 1 ? pool.repeat(letters, 0, RegexPool::kNoBound)
                         : which == 2 ? pairs
                                      : pool.complement(pool.text(U"ab"));
  auto made = ContentAutomaton::make(pool, term, length, {});
  EXPECT_TRUE(made.ok());
  return std::move(made).value();
}

TEST(MaskWalk, AgreesWithEveryTokensOwnWalkInsideStrings) {
  const auto trie = vocabulary_of(kWords);
  MaskCache cache(trie, 1 << 22);  // one for all: what is shared must be right for each
  std::uint64_t id = 0;
  int runs = 0;
  const std::vector<ContentAutomaton::Length> lengths{
      {}, {0, 1}, {0, 3}, {2, 4}, {3, ContentAutomaton::kUnbounded}, {0, 7}, {0, 1000}};
  for (int which = 0; which < 4; ++which) {
    for (const auto& length : lengths) {
      const auto automaton = automaton_of(which, length);
      for (const TextCoding coding : {TextCoding::kJsonCanonical, TextCoding::kJsonAny}) {
        for (const auto behind :
             {StringsMachine::Behind::kKnown, StringsMachine::Behind::kUnknown}) {
          StringsMachine machine(automaton, coding, behind);
          ++id;
          for (const std::string_view text : {"", "\"", "\"a", "\"ab", "\"aba", "\"ab\xc3",
                                              "\"ab\\", "\"é", "\"aa\",\"c", "\"bcbcb", "\"ab\""}) {
            const MachineState state = step_all(machine, machine.start(), text);
            if (state == kDeadState) continue;
            const TokenMask mask = cache.mask(machine, id, state);
            for (std::size_t i = 0; i < trie->width(); ++i) {
              const auto token = static_cast<Token>(i);
              ASSERT_EQ(mask.allows(token), cache.allows(machine, state, token))
                  << which << " [" << length.min << ", " << length.max << "] " << text << " then "
                  << trie->bytes(token);
            }
          }
          runs += machine.runs;
        }
      }
    }
  }
  EXPECT_GT(runs, 300);
}

// Names that are declared or not and never come twice, strings of several alternatives, items that
// differ: places where the machine is a union or forgets a word.
TEST(MaskWalk, AgreesWithEveryTokensOwnWalkAmongNamesAndAlternatives) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> subjects{
      {R"({"type":"object","properties":{"ab":{"type":"string"},"abc":{}}})",
       {R"({"ab":"x","abd":1,"a":2})", R"({"abab":{"ab":""},"a":[]})", R"({"b\u00e9":1})"}},
      {R"({"type":"object","patternProperties":{"^a":{"type":"number"},"b$":{"type":"null"}},
           "properties":{"x":{}},"required":["x"]})",
       {R"({"x":1,"aa":1,"xb":null,"é":""})"}},
      {R"({"type":"object","propertyNames":{"maxLength":2}})", {R"({"a":1,"ab":{},"":0})"}},
      {R"({"type":"object","additionalProperties":false,"patternProperties":{"^(a|ab)$":{}}})",
       {R"({"a":1,"ab":2})"}},
      {R"({"anyOf":[{"type":"string","pattern":"^ab*$"},{"type":"string","minLength":3}]})",
       {R"("abb")", R"("abab")"}},
      {R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})",
       {R"(["a","ab","","abc","é"])"}},
      {R"({"anyOf":[{"type":"object","properties":{"a":{"const":1}}},
                    {"type":"object","properties":{"ab":{"const":2}}}]})",
       {R"({"a":1,"b":2})", R"({"ab":2})"}}};
  std::vector<std::string> words = kWords;
  for (const char* word :
       {"{\"", "\":", "\":1", "a\":", "ab\":\"", "\":\"\",\"", "\":1,\"a\"", "\":1,\"ab",
        "\",\"ab\",\"", "\",\"a\"]", "\":1}", ":1,\"b\":", "[\"", "x\":", "\\u0061\":"}) {
    words.emplace_back(word);
  }
  const auto trie = vocabulary_of(words);
  MaskCache cache(trie, 1 << 22);
  std::uint64_t id = 0;
  for (const auto& [schema, texts] : subjects) {
    const CompiledSchema compiled = compile_schema(schema);
    const auto* form = std::get_if<std::shared_ptr<const SchemaForm>>(&compiled);
    ASSERT_NE(form, nullptr) << schema;
    for (const TextCoding coding : {TextCoding::kJsonCanonical, TextCoding::kJsonAny}) {
      const auto machine = make_json_machine(*form, {.coding = coding});
      ++id;
      for (const std::string& text : texts) {
        MachineState state = machine->start();
        for (std::size_t read = 0; state != kDeadState; ++read) {
          const TokenMask mask = cache.mask(*machine, id, state);
          for (std::size_t i = 0; i < trie->width(); ++i) {
            const auto token = static_cast<Token>(i);
            ASSERT_EQ(mask.allows(token), cache.allows(*machine, state, token))
                << schema << " " << text.substr(0, read) << " then " << trie->bytes(token);
          }
          if (read == text.size()) break;
          state = machine->step(state, static_cast<unsigned char>(text[read]));
        }
        EXPECT_NE(state, kDeadState) << schema << " " << text;
      }
    }
  }
}

TEST(MaskWalk, LeavesFreeTextOnlyWhereAByteLeadsElsewhere) {
  // Behind '<', everything but 'a' and 'b' leads back to the text; behind "<a" nothing but 'x'.
  std::vector<TableMachine::Row> rows(3);
  for (unsigned byte = 0; byte < 256; ++byte) {
    rows[0].next[static_cast<unsigned char>(byte)] = 0;
    rows[1].next[static_cast<unsigned char>(byte)] = 0;
  }
  rows[0].next['<'] = 1;
  rows[1].next['<'] = 1;
  rows[1].next['a'] = 2;
  rows[1].next.erase('b');
  rows[2].next['x'] = 0;
  rows[0].accepting = true;
  TableMachine machine(rows);
  const auto trie =
      vocabulary_of({"ax", "ay", "axhello", "bx", "cx", "c<", "c<b", "<<ax", "hello", "ax<ab"});
  MaskCache cache(trie, 1 << 20);
  for (const std::string_view text : {"", "<", "<a"}) {
    const MachineState state = step_all(machine, machine.start(), text);
    const TokenMask mask = cache.mask(machine, 1, state);
    for (std::size_t i = 0; i < trie->width(); ++i) {
      const auto token = static_cast<Token>(i);
      EXPECT_EQ(mask.allows(token), cache.allows(machine, state, token))
          << text << " then " << trie->bytes(token);
    }
  }
}

// Two machines at once, whose loops cross: what one of them forbids the other one may allow.
class UnionMachine final : public ConstraintMachine {
 public:
  UnionMachine(std::unique_ptr<ConstraintMachine> first, std::unique_ptr<ConstraintMachine> second)
      : machines_{std::move(first), std::move(second)} {
    states_.push_back({});
    start_ = number({machines_[0]->start(), machines_[1]->start()});
  }

  MachineState start() override { return start_; }
  MachineState step(MachineState state, unsigned char byte) override {
    State next{};
    for (std::size_t i = 0; i < 2; ++i) {
      const MachineState at = states_[state][i];
      if (at != kDeadState) next[i] = machines_[i]->step(at, byte);
    }
    return number(next);
  }
  bool accepting(MachineState state) override {
    const State at = states_[state];
    return (at[0] != kDeadState && machines_[0]->accepting(at[0])) ||
           (at[1] != kDeadState && machines_[1]->accepting(at[1]));
  }
  std::string shortest_end(MachineState) override { return {}; }
  std::size_t shortest_end_bytes(MachineState) override { return 0; }
  std::string forced(MachineState, std::size_t) override { return {}; }
  std::vector<MachineState> parts(MachineState state) override {
    const State at = states_[state];
    if (at[0] == kDeadState || at[1] == kDeadState) return {};
    return {number({at[0], kDeadState}), number({kDeadState, at[1]})};
  }
  std::size_t memory_bytes() const override { return 0; }
  std::unique_ptr<ConstraintMachine> renew() const override {
    return std::make_unique<UnionMachine>(machines_[0]->renew(), machines_[1]->renew());
  }

 private:
  using State = std::array<MachineState, 2>;

  MachineState number(const State& state) {
    const auto known = std::find(states_.begin(), states_.end(), state);
    if (known == states_.end()) states_.push_back(state);
    return static_cast<MachineState>(std::find(states_.begin(), states_.end(), state) -
                                     states_.begin());
  }

  std::array<std::unique_ptr<ConstraintMachine>, 2> machines_;
  std::vector<State> states_;  // the first one is dead
  MachineState start_;
};

// All bytes but `byte` loop.
std::unique_ptr<ConstraintMachine> all_but(unsigned char byte) {
  std::vector<TableMachine::Row> rows(1);
  for (unsigned other = 0; other < 256; ++other) {
    if (other != byte) rows[0].next[static_cast<unsigned char>(other)] = 0;
  }
  rows[0].accepting = true;
  return std::make_unique<TableMachine>(std::move(rows));
}

TEST(MaskWalk, TakesNothingFromOnePartOfAUnionThatAnotherForbids) {
  UnionMachine machine(all_but('<'), all_but('>'));
  const auto trie = vocabulary_of({"<x", ">x", "x<", "x>", "<>", "<<y", ">>y", "xyz"});
  MaskCache cache(trie, 1 << 20);
  const TokenMask& mask = cache.mask(machine, 1, machine.start());
  for (std::size_t i = 0; i < trie->width(); ++i) {
    const auto token = static_cast<Token>(i);
    EXPECT_EQ(mask.allows(token), cache.allows(machine, machine.start(), token)) << token;
  }
}

// ---- Constraints for which a whole mask would take too long ----

// Words of six letters out of a to f: every one of them is a place of its own.
std::shared_ptr<const TokenTrie> many_words() {
  std::vector<std::string> words;
  for (unsigned number = 0; number < 46'656; ++number) {
    std::string word;
    for (unsigned rest = number; word.size() < 6; rest /= 6) {
      word.push_back(static_cast<char>('a' + rest % 6));
    }
    words.push_back(word);
  }
  return vocabulary_of(words);
}

// A thousand rules that may begin at every letter, each with an end of its own.
std::unique_ptr<ConstraintMachine> crowded_grammar() {
  std::string text = "root ::= r0";
  for (int i = 1; i < 1000; ++i) text += " | r" + std::to_string(i);
  text += '\n';
  for (int i = 0; i < 1000; ++i) {
    std::string letters;
    for (int bit = 0; bit < 6; ++bit) {
      if (((i + 1) * 2654435761U >> (bit + 7) & 1) != 0) letters += static_cast<char>('a' + bit);
    }
    if (letters.empty()) letters = "a";
    const std::string number = std::to_string(i);
    text += "r" + number + " ::= [" + letters + "] root \"" + number + "\" | [" + letters + "]\n";
  }
  auto parsed = parse_grammar(text);
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  return std::move(make_grammar_machine(std::move(parsed->grammar))).value();
}

// Two thousand objects that differ in their last property alone.
std::unique_ptr<ConstraintMachine> crowded_union() {
  std::string schema = R"({"anyOf":[)";
  for (int i = 0; i < 2000; ++i) {
    const std::string number = std::to_string(i);
    schema += i > 0 ? "," : "";
    schema += R"({"type":"object","properties":{"a":{"type":"string","pattern":"^[a-f]*)" + number +
              R"($"},"z":{"const":)" + number + R"(}},"required":["a","z"]})";
  }
  const CompiledSchema compiled = compile_schema(schema + "]}");
  const auto* form = std::get_if<std::shared_ptr<const SchemaForm>>(&compiled);
  EXPECT_NE(form, nullptr);
  return form == nullptr ? nullptr : make_json_machine(*form);
}

// What one mask takes does not depend on how much there would be to do, and what it has is legal.
void expect_bounded_mask(MaskCache& cache, ConstraintMachine& machine, std::string_view text) {
  const MachineState state = step_all(machine, machine.start(), text);
  ASSERT_NE(state, kDeadState);
  const std::uint64_t before = machine.work();
  const TokenMask mask = cache.mask(machine, 1, state);
  // What a few steps more take, of which each may be a thousand alternatives.
  EXPECT_LT(machine.work() - before, WalkBudget::kWorkMax + 100'000);
  EXPECT_EQ(cache.statistics().ended_early, 1u);
  EXPECT_LT(machine.memory_bytes(), std::size_t{64} << 20);
  std::size_t legal = 0;
  mask.for_each([&](Token token) { legal += cache.allows(machine, state, token) ? 1 : 0; });
  EXPECT_EQ(legal, mask.count());
}

TEST(MaskWalk, EndsEarlyInAGrammarOfTooManyReadings) {
  MaskCache cache(many_words(), 1 << 22);
  const auto machine = crowded_grammar();
  expect_bounded_mask(cache, *machine, "a");
}

TEST(MaskWalk, EndsEarlyAmongTooManyAlternatives) {
  MaskCache cache(many_words(), 1 << 22);
  const auto machine = crowded_union();
  ASSERT_NE(machine, nullptr);
  expect_bounded_mask(cache, *machine, R"({"a":"b)");
}

// Each step takes more than a whole mask may.
class BusyMachine final : public TableMachine {
 public:
  using TableMachine::TableMachine;
  MachineState step(MachineState state, unsigned char byte) override {
    work_ += WalkBudget::kWorkMax + 1;
    return TableMachine::step(state, byte);
  }
  std::uint64_t work() const override { return work_; }

 private:
  std::uint64_t work_ = 0;
};

// 'y' again and again, or `end`, or "ab".
std::vector<TableMachine::Row> rows_with_end(unsigned char end) {
  std::vector<TableMachine::Row> rows(3);
  rows[0].next = {{end, 1}, {'a', 2}, {'y', 0}};
  rows[1].accepting = true;
  rows[2].next = {{'b', 1}};
  return rows;
}

void expect_legal_tokens_at_an_early_end(BusyMachine& machine,
                                         const std::shared_ptr<const TokenTrie>& trie) {
  MaskCache cache(trie, 1 << 20);
  const TokenMask& mask = cache.mask(machine, 1, machine.start());
  EXPECT_EQ(cache.statistics().ended_early, 1u);
  ASSERT_GE(mask.count(), 1u);
  mask.for_each([&](Token token) {
    EXPECT_TRUE(cache.allows(machine, machine.start(), token)) << trie->bytes(token);
  });
}

TEST(MaskWalk, HasATokenHoweverEarlyItEnds) {
  BusyMachine machine(rows_with_end('x'));
  const auto trie = vocabulary_of({"xx", "yx"});
  expect_legal_tokens_at_an_early_end(machine, trie);
}

TEST(MaskWalk, HasATokenWhereTheShortestEndHasNone) {
  BusyMachine machine(rows_with_end(1));
  std::vector<std::string> bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.emplace_back(1, static_cast<char>(byte));
  bytes[1].clear();
  const auto trie = std::make_shared<TokenTrie>(bytes, std::vector<Token>{}, bytes.size());
  expect_legal_tokens_at_an_early_end(machine, trie);
}

TEST(MaskWalk, FindsTokensOfFreeLoopsWithoutAWalk) {
  // All bytes but '<' loop; behind '<' comes one 'a'.
  std::vector<TableMachine::Row> rows(2);
  for (unsigned byte = 0; byte < 256; ++byte) rows[0].next[static_cast<unsigned char>(byte)] = 0;
  rows[0].next['<'] = 1;
  rows[1].next['a'] = 0;
  rows[0].accepting = true;
  TableMachine machine(rows);
  const auto trie = vocabulary_of({"x<a", "<a<", "<b", "hello", "<a<a", "a<", "<<"});
  MaskCache cache(trie, 1 << 20);
  const TokenMask& mask = cache.mask(machine, 1, machine.start());
  for (std::size_t i = 0; i < trie->width(); ++i) {
    const auto token = static_cast<Token>(i);
    EXPECT_EQ(mask.allows(token), cache.allows(machine, machine.start(), token)) << token;
  }
}

}  // namespace
}  // namespace zerohop

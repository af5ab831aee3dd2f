#include "constrain/tag_machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "constrain/constraint_test_kit.h"
#include "constrain/mask_cache.h"

namespace zerohop {
namespace {

std::unique_ptr<ConstraintMachine> make(TagSet set) {
  auto made = make_tag_machine(std::move(set));
  EXPECT_TRUE(made.ok());
  return std::move(made).value();
}

bool begins(ConstraintMachine& machine, std::string_view text) {
  return step_all(machine, machine.start(), text) != kDeadState;
}

// One digit or more.
std::shared_ptr<const ConstraintMachine> digits() {
  TableMachine::Row row;
  for (const char digit : std::string_view("0123456789")) {
    row.next[static_cast<unsigned char>(digit)] = 1;
  }
  TableMachine::Row more = row;
  more.accepting = true;
  return std::make_shared<TableMachine>(std::vector<TableMachine::Row>{row, more});
}

TagRule tool(std::string name) {
  return {.trigger = "<call>",
          .parts = {literal_part(std::move(name)), literal_part("("), machine_part(digits()),
                    literal_part(")</call>")}};
}

TEST(TagMachine, ConstrainsSectionsAndLeavesTextFree) {
  const auto machine = make({.rules = {tool("add"), tool("address"), tool("sub")}});
  EXPECT_TRUE(accepts(*machine, ""));
  EXPECT_TRUE(accepts(*machine, "a < b, <cal"));
  EXPECT_TRUE(accepts(*machine, "so: <<call>add(12)</call>, then <call>sub(3)</call>\xff"));
  EXPECT_TRUE(accepts(*machine, "<call>address(1)</call>"));
  EXPECT_FALSE(begins(*machine, "<call>mul"));
  EXPECT_FALSE(begins(*machine, "<call>addr("));
  EXPECT_FALSE(begins(*machine, "<call>add(x"));
  EXPECT_TRUE(begins(*machine, "<call>add(1)</call"));
  EXPECT_FALSE(accepts(*machine, "<call>add(1)</call"));
}

TEST(TagMachine, AsksForAtLeastOneCall) {
  const auto machine = make({.rules = {tool("add"), tool("a")}, .calls_min = 1});
  EXPECT_FALSE(accepts(*machine, "no"));
  EXPECT_TRUE(accepts(*machine, "yes <call>add(1)</call>"));
  const MachineState state = step_all(*machine, machine->start(), "see <ca");
  EXPECT_EQ(machine->shortest_end(state), "ll>a(0)</call>");
}

TEST(TagMachine, AllowsOneCallAtMost) {
  const auto machine = make({.rules = {tool("add")}, .calls_max = 1});
  EXPECT_TRUE(accepts(*machine, "<call>add(1)</call> that is all, <call"));
  EXPECT_FALSE(begins(*machine, "<call>add(1)</call><call>"));
}

TEST(TagMachine, AllowsNoCallAtAll) {
  const auto machine = make({.rules = {tool("add")}, .calls_max = 0});
  EXPECT_TRUE(accepts(*machine, "text <call"));
  EXPECT_FALSE(begins(*machine, "text <call>"));
}

TEST(TagMachine, AllowsNothingButCalls) {
  const auto machine = make({.rules = {tool("add"), tool("sub")},
                             .calls_min = 1,
                             .text = TagSet::Text::kNone,
                             .between = "\n"});
  EXPECT_FALSE(begins(*machine, " "));
  EXPECT_TRUE(accepts(*machine, "<call>add(1)</call>"));
  EXPECT_TRUE(accepts(*machine, "<call>add(1)</call>\n<call>sub(2)</call>"));
  EXPECT_FALSE(begins(*machine, "<call>add(1)</call> "));
  EXPECT_FALSE(accepts(*machine, "<call>add(1)</call>\n"));
  EXPECT_EQ(machine->forced(machine->start(), 100), "<call>");
  EXPECT_EQ(machine->forced(step_all(*machine, machine->start(), "<call>s"), 100), "ub(");
}

TEST(TagMachine, AllowsTextInFrontOfCallsOnly) {
  const auto machine = make({.rules = {tool("add")}, .text = TagSet::Text::kBeforeCalls});
  EXPECT_TRUE(accepts(*machine, "text"));
  EXPECT_TRUE(accepts(*machine, "text <call>add(1)</call><call>add(2)</call>"));
  EXPECT_FALSE(begins(*machine, "<call>add(1)</call> "));
}

TEST(TagMachine, ThinksUntilTheMarkAndThenWritesTheDocument) {
  const auto machine = make(
      {.prologue = {until_part("</think>"), machine_part(digits())}, .text = TagSet::Text::kNone});
  EXPECT_TRUE(accepts(*machine, "hm </thin </</think>42"));
  EXPECT_FALSE(begins(*machine, "hm</think> 42"));
  EXPECT_FALSE(accepts(*machine, "hm"));
  EXPECT_EQ(machine->shortest_end(step_all(*machine, machine->start(), "hm </th")), "ink>0");
}

TEST(TagMachine, ReadsPartsThatEndAtALiteral) {
  const auto machine =
      make({.rules = {{.trigger = "<p=", .parts = {until_part("</p>"), literal_part("!")}}}});
  EXPECT_TRUE(accepts(*machine, "<p=x</p</p>!"));
  EXPECT_FALSE(begins(*machine, "<p=x</p>?"));
}

TEST(TagMachine, MayStartWithThePrologueOrWithoutIt) {
  const auto machine = make({.prologue = {literal_part("<think>"), until_part("</think>")},
                             .prologue_presence = TagSet::Presence::kOptional,
                             .alternatives = {{machine_part(digits())}}});
  EXPECT_TRUE(accepts(*machine, "42"));
  EXPECT_TRUE(accepts(*machine, "<think>42</think>7"));
  EXPECT_FALSE(accepts(*machine, "<think>42"));
  EXPECT_FALSE(begins(*machine, "4<"));
}

TEST(TagMachine, TakesOneOfSeveralWholeAnswers) {
  const auto machine = make({.alternatives = {{machine_part(digits())}, {literal_part("12!")}}});
  EXPECT_TRUE(accepts(*machine, "12"));
  EXPECT_TRUE(accepts(*machine, "12!"));
  EXPECT_FALSE(begins(*machine, "1!"));
  EXPECT_FALSE(accepts(*machine, ""));
  EXPECT_EQ(machine->shortest_end(machine->start()), "0");
}

TEST(TagMachine, KeepsTextsOutOfFreeText) {
  const auto machine = make({.prologue = {until_part("</think>", {"<call>", "</s>"})},
                             .rules = {tool("add")},
                             .never_in_text = {"<think>"}});
  EXPECT_TRUE(begins(*machine, "hm <call"));
  EXPECT_FALSE(begins(*machine, "hm <call>"));
  EXPECT_FALSE(begins(*machine, "hm </s>"));
  EXPECT_TRUE(accepts(*machine, "hm </</think>so <call>add(1)</call> <think"));
  EXPECT_FALSE(begins(*machine, "</think><think>"));
}

TEST(TagMachine, BeginsSomeSectionsOnlyAtTheBeginningOfAText) {
  TagRule leading{.trigger = "{",
                  .parts = {machine_part(digits()), literal_part("}")},
                  .place = TagRule::Place::kBeginning};
  const auto machine = make({.rules = {leading, tool("add")}, .between = ";"});
  EXPECT_TRUE(accepts(*machine, " \n{12}"));
  EXPECT_FALSE(begins(*machine, " {x"));
  EXPECT_TRUE(accepts(*machine, "so {x"));
  EXPECT_TRUE(accepts(*machine, "so <call>add(1)</call> {2}"));
  EXPECT_FALSE(begins(*machine, "so <call>add(1)</call> {x"));
  const auto only = make({.rules = {leading}, .text = TagSet::Text::kNone, .between = ";"});
  EXPECT_TRUE(accepts(*only, "{1};{2}"));
  EXPECT_FALSE(begins(*only, " "));
}

TEST(TagMachine, RefusesSetsThatMeanNothing) {
  EXPECT_FALSE(make_tag_machine({.prologue = {until_part("")}}).ok());
  EXPECT_FALSE(make_tag_machine({.prologue = {until_part("ab", {"cab"})}}).ok());
  EXPECT_FALSE(make_tag_machine({.prologue = {until_part("ab", {"b"})}}).ok());
  EXPECT_FALSE(make_tag_machine({.rules = {tool("a")}, .never_in_text = {"<call>"}}).ok());
  EXPECT_FALSE(make_tag_machine({.rules = {tool("a")}, .alternatives = {{}}}).ok());
  EXPECT_FALSE(
      make_tag_machine({.rules = {{.trigger = "ab", .place = TagRule::Place::kBeginning}}}).ok());
  EXPECT_FALSE(make_tag_machine({.rules = {{.trigger = "{", .place = TagRule::Place::kBeginning}},
                                 .calls_min = 1})
                   .ok());
  // Text that must not come is no section that can still begin behind a text.
  EXPECT_FALSE(make_tag_machine({.rules = {{.trigger = "{", .place = TagRule::Place::kBeginning}},
                                 .never_in_text = {"<call>"},
                                 .calls_min = 1})
                   .ok());
  EXPECT_FALSE(make_tag_machine({.calls_min = 1}).ok());
  EXPECT_FALSE(make_tag_machine({.rules = {tool("a")}, .calls_min = 2, .calls_max = 1}).ok());
  EXPECT_FALSE(make_tag_machine({.rules = {{.trigger = ""}}}).ok());
  EXPECT_FALSE(make_tag_machine({.rules = {{.trigger = "<a>"}, {.trigger = "x<a>"}}}).ok());
}

// The mark that must not come ends in the bytes that begin the call.
TEST(TagMachine, EndsAroundWhatMustNotCome) {
  const auto machine = make({.rules = {tool("a")}, .never_in_text = {"b<", "x<"}, .calls_min = 1});
  const MachineState state = step_all(*machine, machine->start(), "ab");
  EXPECT_FALSE(begins(*machine, "ab<"));
  const std::string end = machine->shortest_end(state);
  EXPECT_EQ(end, " <call>a(0)</call>");
  EXPECT_TRUE(accepts(*machine, "ab" + end));
  EXPECT_EQ(machine->shortest_end_bytes(state), end.size());
}

TEST(TagMachine, EndsAPartAroundWhatMustNotCome) {
  const auto machine = make({.prologue = {until_part("ab", {"ca"})}});
  EXPECT_EQ(machine->shortest_end(step_all(*machine, machine->start(), "xc")), " ab");
  EXPECT_FALSE(begins(*machine, "xca"));
  EXPECT_TRUE(accepts(*machine, "xc ab"));
}

// Texts of the letters a and b alone: where a "b" is the last one, nothing can follow.
TEST(TagMachine, RefusesTextsThatLeaveNoWayToACall) {
  TagSet set{.rules = {{.trigger = "aa", .parts = {literal_part("!")}}}, .calls_min = 1};
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (byte != 'a' && byte != 'b') set.never_in_text.emplace_back(1, static_cast<char>(byte));
  }
  set.never_in_text.emplace_back("bb");
  EXPECT_TRUE(make_tag_machine(set).ok());
  set.never_in_text.emplace_back("ba");
  const auto refused = make_tag_machine(set);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidRequest);
  set.calls_min = 0;
  EXPECT_TRUE(make_tag_machine(set).ok());
}

TEST(TagMachine, StartsAnewWithoutStates) {
  const auto machine = make({.rules = {tool("add")}});
  step_all(*machine, machine->start(), "text <call>add(12)");
  const auto fresh = machine->renew();
  EXPECT_LT(fresh->memory_bytes(), machine->memory_bytes());
  EXPECT_TRUE(accepts(*fresh, "text <call>add(12)</call>"));
}

std::vector<TagSet> small_sets() {
  std::vector<TagSet> sets;
  const TagRule a{.trigger = "<a", .parts = {machine_part(digits()), literal_part("1>")}};
  const TagRule b{.trigger = "<a", .parts = {literal_part("1"), until_part("a>")}};
  const TagRule c{.trigger = "<<", .parts = {literal_part("a")}};
  const TagRule d{
      .trigger = "1", .parts = {literal_part("<")}, .place = TagRule::Place::kBeginning};
  for (const TagSet::Text text :
       {TagSet::Text::kAnywhere, TagSet::Text::kBeforeCalls, TagSet::Text::kNone}) {
    for (const std::uint32_t calls_min : {0u, 1u, 2u}) {
      sets.push_back({.prologue = {until_part("1a")},
                      .rules = {a, b, c},
                      .calls_min = calls_min,
                      .calls_max = 2,
                      .text = text,
                      .between = ">"});
      sets.push_back({.prologue = {literal_part("<"), until_part("1a", {"<<", ">"})},
                      .prologue_presence = TagSet::Presence::kOptional,
                      .rules = {b, c, d},
                      .never_in_text = {"<1", ">>"},
                      .calls_min = calls_min,
                      .calls_max = 2,
                      .text = text,
                      .between = ">"});
    }
  }
  sets.push_back({.prologue = {until_part("1a", {"a1", ">1"})},
                  .rules = {a, c},
                  .never_in_text = {"a<", "1<", "><"},
                  .calls_min = 2});
  sets.push_back({.prologue = {literal_part("<"), until_part("1a", {"<<"})},
                  .prologue_presence = TagSet::Presence::kOptional,
                  .alternatives = {{machine_part(digits()), literal_part("a")},
                                   {literal_part("<"), until_part("a>"), literal_part("1")}}});
  return sets;
}

struct Walk {
  std::vector<MachineState> states;  // that some text over the alphabet can reach
  std::map<MachineState, std::vector<MachineState>> edges;
  std::map<MachineState, std::size_t> distance;  // to acceptance
};

Walk walk_all(ConstraintMachine& machine, std::string_view alphabet) {
  Walk walk;
  walk.states.push_back(machine.start());
  for (std::size_t i = 0; i < walk.states.size(); ++i) {
    for (const char byte : alphabet) {
      const MachineState next = machine.step(walk.states[i], static_cast<unsigned char>(byte));
      if (next == kDeadState) continue;
      walk.edges[walk.states[i]].push_back(next);
      if (std::ranges::find(walk.states, next) == walk.states.end()) walk.states.push_back(next);
    }
  }
  for (const MachineState state : walk.states) {
    if (machine.accepting(state)) walk.distance[state] = 0;
  }
  for (std::size_t round = 1; round < 100; ++round) {
    std::vector<MachineState> reached;
    for (const MachineState state : walk.states) {
      const auto known = [&](MachineState next) { return walk.distance.contains(next); };
      if (!known(state) && std::ranges::any_of(walk.edges[state], known)) reached.push_back(state);
    }
    for (const MachineState state : reached) walk.distance[state] = round;
  }
  return walk;
}

void check_forced(ConstraintMachine& machine, MachineState state) {
  for (const char byte : machine.forced(state, 20)) {
    EXPECT_FALSE(machine.accepting(state));
    for (unsigned other = 0; other < 256; ++other) {
      const bool alive = machine.step(state, static_cast<unsigned char>(other)) != kDeadState;
      EXPECT_EQ(alive, other == static_cast<unsigned char>(byte));
    }
    state = machine.step(state, static_cast<unsigned char>(byte));
  }
}

// Distances to acceptance by breadth-first search over all states that few bytes can reach.
TEST(TagMachine, KnowsTheShortestEndAndWhatIsForcedOfEveryState) {
  for (const TagSet& set : small_sets()) {
    const auto machine = make(set);
    const Walk walk = walk_all(*machine, "<a1> ");
    ASSERT_GT(walk.states.size(), 5u);
    for (const MachineState state : walk.states) {
      ASSERT_TRUE(walk.distance.contains(state)) << "a state from which nothing is accepted";
      const std::string end = machine->shortest_end(state);
      EXPECT_EQ(end.size(), machine->shortest_end_bytes(state));
      const MachineState ended = step_all(*machine, state, end);
      ASSERT_NE(ended, kDeadState);
      EXPECT_TRUE(machine->accepting(ended));
      EXPECT_EQ(end.size(), walk.distance.at(state));
      check_forced(*machine, state);
    }
  }
}

TEST(TagMachine, HasExactMasksInTextAndInSections) {
  const auto trie = vocabulary_of({"<call>", "<call>add", "<call>x", "(1", "hello", "ll>add(",
                                   ")</call> and", "<c", "a<b", "1)<"});
  MaskCache cache(trie, 1 << 20);
  const auto machine = make({.rules = {tool("add"), tool("sub")}, .calls_max = 1});
  for (const std::string_view text :
       {"", "text", "text <ca", "<call>", "<call>add(", "<call>add(1", "<call>add(1)</call> x <"}) {
    const MachineState state = step_all(*machine, machine->start(), text);
    const TokenMask mask = cache.mask(*machine, 1, state);
    for (std::size_t i = 0; i < trie->width(); ++i) {
      const auto token = static_cast<Token>(i);
      EXPECT_EQ(mask.allows(token), cache.allows(*machine, state, token)) << text << "|" << token;
    }
  }
}

}  // namespace
}  // namespace zerohop

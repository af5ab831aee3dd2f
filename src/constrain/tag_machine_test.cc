#include "constrain/tag_machine.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "constrain/constraint_test_kit.h"
#include "constrain/mask_cache.h"

namespace zerohop {
namespace {

std::unique_ptr<ConstraintMachine> make(TagSet set) {
  auto made = make_tag_machine(std::move(set));
  EXPECT_TRUE(made.ok());
  return std::move(made).value();
}

bool accepts(ConstraintMachine& machine, std::string_view text) {
  const MachineState state = step_all(machine, machine.start(), text);
  return state != kDeadState && machine.accepting(state);
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

TEST(TagMachine, RefusesSetsThatMeanNothing) {
  EXPECT_FALSE(make_tag_machine({.calls_min = 1}).ok());
  EXPECT_FALSE(make_tag_machine({.rules = {tool("a")}, .calls_min = 2, .calls_max = 1}).ok());
  EXPECT_FALSE(make_tag_machine({.rules = {{.trigger = ""}}}).ok());
  EXPECT_FALSE(make_tag_machine({.rules = {{.trigger = "<a>"}, {.trigger = "x<a>"}}}).ok());
}

TEST(TagMachine, StartsAnewWithoutStates) {
  const auto machine = make({.rules = {tool("add")}});
  step_all(*machine, machine->start(), "text <call>add(12)");
  const auto fresh = machine->renew();
  EXPECT_LT(fresh->memory_bytes(), machine->memory_bytes());
  EXPECT_TRUE(accepts(*fresh, "text <call>add(12)</call>"));
}

// Distances to acceptance by breadth-first search over all states that few bytes can reach.
TEST(TagMachine, KnowsTheShortestEndAndWhatIsForcedOfEveryState) {
  std::vector<TagSet> sets;
  for (const TagSet::Text text :
       {TagSet::Text::kAnywhere, TagSet::Text::kBeforeCalls, TagSet::Text::kNone}) {
    for (const std::uint32_t calls_min : {0u, 1u, 2u}) {
      TagRule a{.trigger = "<a", .parts = {machine_part(digits()), literal_part("1>")}};
      TagRule b{.trigger = "<a", .parts = {literal_part("1"), until_part("a>")}};
      TagRule c{.trigger = "<<", .parts = {literal_part("a")}};
      sets.push_back({.prologue = {until_part("1a")},
                      .rules = {a, b, c},
                      .calls_min = calls_min,
                      .calls_max = 2,
                      .text = text,
                      .between = ">"});
    }
  }
  constexpr std::string_view kBytes = "<a1>";
  for (const TagSet& set : sets) {
    const auto machine = make(set);
    std::vector<MachineState> states{machine->start()};
    std::map<MachineState, std::vector<MachineState>> edges;
    for (std::size_t i = 0; i < states.size(); ++i) {
      for (const char byte : kBytes) {
        const MachineState next = machine->step(states[i], static_cast<unsigned char>(byte));
        if (next == kDeadState) continue;
        edges[states[i]].push_back(next);
        if (std::find(states.begin(), states.end(), next) == states.end()) states.push_back(next);
      }
      ASSERT_LT(states.size(), 2000u);
    }
    std::map<MachineState, std::size_t> distance;
    for (std::size_t round = 0; distance.size() < states.size(); ++round) {
      ASSERT_LT(round, 100u) << "a state from which nothing is accepted";
      std::vector<MachineState> reached;
      for (const MachineState state : states) {
        bool here = round == 0 && machine->accepting(state);
        for (const MachineState next : edges[state]) here = here || distance.contains(next);
        if (here && !distance.contains(state)) reached.push_back(state);
      }
      for (const MachineState state : reached) distance[state] = round;
      for (const MachineState state : states) {
        if (round == 0 && machine->accepting(state)) distance[state] = 0;
      }
    }
    for (const MachineState state : states) {
      const std::string end = machine->shortest_end(state);
      EXPECT_EQ(end.size(), machine->shortest_end_bytes(state));
      const MachineState ended = step_all(*machine, state, end);
      ASSERT_NE(ended, kDeadState);
      EXPECT_TRUE(machine->accepting(ended));
      EXPECT_EQ(end.size(), distance.at(state));
      MachineState at = state;
      for (const char byte : machine->forced(state, 20)) {
        EXPECT_FALSE(machine->accepting(at));
        for (unsigned other = 0; other < 256; ++other) {
          const bool alive = machine->step(at, static_cast<unsigned char>(other)) != kDeadState;
          EXPECT_EQ(alive, other == static_cast<unsigned char>(byte));
        }
        at = machine->step(at, static_cast<unsigned char>(byte));
      }
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

// Follows a trie with a machine, and where that comes into content with the content's automaton.
//
// A machine may have a state for every text that it has read: names that must not come twice are
// all different. Below a quote stand some hundred tokens that begin such a name, so each place in
// front of one would make some hundred states, each for one token of one mask. Content answers the
// same question without states, and the machine is asked again behind its end.
//
//   ,  "  n a m e  "  : ...     m: step() of the machine, c: of the content's automaton
//   m  m  c c c c  b  m         b: ContentRun::behind, or where it says nothing the machine again
//
// One owner (mask_walk.h); not thread-safe.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "constrain/byte_trie.h"
#include "constrain/constraint_machine.h"
#include "constrain/content_coding.h"
#include "constrain/walk_budget.h"

namespace zerohop {

/// The machine's state behind a word of the run that is written `word`, and the leaving byte.
/// `deep`: more than one further leaving byte may follow. kDeadState: it is not allowed.
MachineState behind_word(ConstraintMachine& machine, MachineState state, const ContentRun& run,
                         std::string_view word, bool deep);

class TrieWalk {
 public:
  /// `budget` outlives it: what a walk takes is taken of it, and where it is spent the walk ends.
  explicit TrieWalk(WalkBudget& budget)
      : budget_(budget), states_(ByteTrie::kDepthMax + 1), places_(ByteTrie::kDepthMax + 1) {}

  /// Strings that begin with certain bytes, and the empty one.
  struct Strings {
    const ByteTrie& trie;
    std::bitset<256> first_bytes;
  };

  /// Calls `found(values)` for each of the strings that keeps `machine` alive behind `state`.
  /// Strings may be found more than once, in any order.
  template <class Found>
  void follow(ConstraintMachine& machine, MachineState state, const Strings& strings,
              const Found& found) {
    const ByteTrie& trie = strings.trie;
    const Walk<Found> walk{machine, trie, found};
    if (!trie.root_values().empty()) found(trie.root_values());
    states_[0] = state;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const std::uint32_t child = trie.first_child(static_cast<unsigned char>(byte));
      if (child == ByteTrie::kNoNode || !strings.first_bytes[byte]) continue;
      if (budget_.spent()) return;
      descend(walk, {child, trie.node(child).skip});
    }
  }

  std::size_t memory_bytes() const {
    return states_.capacity() * sizeof(MachineState) + places_.capacity() * sizeof(ContentPlace);
  }

 private:
  struct Nodes {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };
  template <class Found>
  struct Walk {
    ConstraintMachine& machine;
    const ByteTrie& trie;
    const Found& found;
  };

  // Nodes whose parents' states are known.
  template <class Found>
  void descend(const Walk<Found>& walk, Nodes nodes) {
    for (std::uint32_t i = nodes.begin; i < nodes.end;) {
      if (budget_.take_node(walk.machine)) return;
      const ByteTrie::Node& node = walk.trie.node(i);
      const MachineState state = walk.machine.step(states_[node.depth - 1u], node.byte);
      if (state == kDeadState) {
        i = node.skip;
        continue;
      }
      if (walk.trie.has_values(i)) walk.found(walk.trie.values(i));
      states_[node.depth] = state;
      const std::uint32_t below = ++i;
      if (below == node.skip) continue;
      if (enter(walk, state, {below, node.skip})) i = node.skip;
    }
  }

  // True: the nodes have been seen to, because `state` is in content.
  template <class Found>
  bool enter(const Walk<Found>& walk, MachineState state, Nodes nodes) {
    const std::optional<ContentRun> run = walk.machine.content(state);
    if (run && run->leaving) {
      inside(walk, state, *run, nodes);
      return true;
    }
    const std::vector<MachineState> parts = walk.machine.parts(state);
    const std::size_t depth = walk.trie.node(nodes.begin).depth - 1u;
    for (const MachineState part : parts) {
      if (budget_.take_node(walk.machine)) return true;
      states_[depth] = part;
      if (!enter(walk, part, nodes)) descend(walk, nodes);
    }
    return !parts.empty();
  }

  template <class Found>
  void inside(const Walk<Found>& walk, MachineState state, const ContentRun& run, Nodes nodes) {
    const ContentDecoder decoder(*run.automaton, run.coding);
    const std::size_t top = walk.trie.node(nodes.begin).depth - 1u;
    places_[top] = {.state = run.state, .count = run.count};
    std::string word;
    for (std::uint32_t i = nodes.begin; i < nodes.end;) {
      if (budget_.take_node(walk.machine)) return;
      const ByteTrie::Node& node = walk.trie.node(i);
      const std::size_t outside = node.depth - 1u;
      word.resize(outside - top);
      ContentPlace place = places_[outside];
      const bool leaves = node.byte == *run.leaving && decoder.at_character_border(place);
      if (leaves) {
        const Nodes below{i + 1, node.skip};
        if (decoder.accepts(place)) leave(walk, {state, run, word}, i, below);
        i = node.skip;
      } else if (!decoder.step(place, node.byte)) {
        i = node.skip;
      } else {
        if (walk.trie.has_values(i)) walk.found(walk.trie.values(i));
        places_[node.depth] = place;
        word.push_back(static_cast<char>(node.byte));
        ++i;
      }
    }
  }

  struct Word {
    MachineState state;
    const ContentRun& run;
    std::string_view text;
  };

  template <class Found>
  void leave(const Walk<Found>& walk, const Word& word, std::uint32_t node, Nodes below) {
    bool deep = false;
    for (std::uint32_t i = below.begin; i < below.end; ++i) {
      deep |= walk.trie.node(i).byte == *word.run.leaving;
    }
    const MachineState behind = behind_word(walk.machine, word.state, word.run, word.text, deep);
    if (behind == kDeadState) return;
    if (walk.trie.has_values(node)) walk.found(walk.trie.values(node));
    states_[walk.trie.node(node).depth] = behind;
    if (below.begin != below.end && !enter(walk, behind, below)) descend(walk, below);
  }

  WalkBudget& budget_;
  std::vector<MachineState> states_;  // by depth
  std::vector<ContentPlace> places_;  // by depth
};

}  // namespace zerohop

// Which strings of a trie begin or go on a word of an automaton, for words without an upper bound.
//
// A vocabulary's trie has some 270,000 nodes, and of a wide language nearly all are alive. Nearly
// all bytes are ASCII between two characters, where the next state depends on state and byte alone:
// a table, filled for the states that occur. Everything else goes through the decoder.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "constrain/byte_trie.h"
#include "constrain/content_automaton.h"
#include "constrain/content_coding.h"

namespace zerohop {

/// One use; not thread-safe.
class ContentWalk {
 public:
  /// Words have no upper bound. `automaton` outlives this.
  ContentWalk(const ContentAutomaton& automaton, TextCoding coding);

  /// Calls `found(values)` for each string of the trie that `place`, between two characters, can go
  /// on with.
  template <class Found>
  void follow(const ContentPlace& place, const ByteTrie& trie, const Found& found) {
    states_[0] = place.state;
    for (std::size_t i = 0; i < trie.size();) {
      const ByteTrie::Node& node = trie.node(i);
      const std::uint32_t next = step(node, place.count);
      if (next == ContentAutomaton::kNoState) {
        i = node.skip;
        continue;
      }
      states_[node.depth] = next;
      if (trie.has_values(i)) found(trie.values(i));
      ++i;
    }
  }

 private:
  using Row = std::array<std::uint32_t, 128>;
  // States that are none of the automaton.
  static constexpr std::uint32_t kInside = ContentAutomaton::kNoState - 1;  // of a character
  static constexpr std::uint32_t kAsk = ContentAutomaton::kNoState - 2;     // the decoder knows

  std::uint32_t step(const ByteTrie::Node& node, std::uint32_t count) {
    const std::uint32_t state = states_[node.depth - 1u];
    if (state != kInside && node.byte < 0x80) {
      const std::uint32_t next = row(state)[node.byte];
      if (next != kAsk) return next;
    }
    return slow_step(node, count);
  }
  const Row& row(std::uint32_t state) {
    const std::uint32_t known = row_of_[state];
    return known != 0 ? rows_[known] : make_row(state);
  }
  const Row& make_row(std::uint32_t state);
  std::uint32_t slow_step(const ByteTrie::Node& node, std::uint32_t count);

  const ContentAutomaton& automaton_;
  ContentDecoder decoder_;
  std::vector<std::uint32_t> row_of_;  // by state; 0: not made
  std::vector<Row> rows_;
  std::vector<std::uint32_t> states_;  // by depth
  std::vector<ContentPlace> places_;   // by depth, where kInside
};

}  // namespace zerohop

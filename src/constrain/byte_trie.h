// A set of byte strings as one array, made to be walked from its beginning to its end.
//
// The nodes of the trie stand in depth-first order; each knows where the part behind its subtree
// begins. A walk that follows an automaton reads the array forwards and jumps over a subtree when
// the automaton dies, with one state for each depth and no stack:
//
//   strings a, ab, b:   [a 1 →2] [b 2 →2] [b 1 →3]        byte, depth, where to go on without it
//
// Depth-first order is alphabetical order, so the values of the strings stand in one second array
// and a node only has the place of its first one. 12 bytes a node; a vocabulary of 128,000 tokens
// has about 300,000 nodes.
//
// Immutable; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace zerohop {

class ByteTrie {
 public:
  static constexpr std::size_t kDepthMax = 4096;  ///< bytes of one string
  static constexpr std::uint32_t kNoNode = UINT32_MAX;

  struct Node {
    std::uint32_t skip = 0;          ///< the first node that is not below this one
    std::uint32_t values_begin = 0;  ///< its own values end where those of the next node begin
    std::uint16_t depth = 0;         ///< 1: the first byte of a string
    std::uint8_t byte = 0;
  };
  static_assert(sizeof(Node) == 12);

  struct Entry {
    std::string_view bytes;  ///< at most kDepthMax; may be empty
    std::uint32_t value = 0;
  };

  ByteTrie() : ByteTrie(std::vector<Entry>{}) {}
  /// Strings may repeat; values of equal ones keep the order of `entries`.
  explicit ByteTrie(std::vector<Entry> entries);

  std::size_t size() const { return nodes_.size() - 1; }
  const Node& node(std::size_t index) const { return nodes_[index]; }

  /// Values of the string that ends at a node.
  std::span<const std::uint32_t> values(std::size_t index) const {
    const std::size_t begin = nodes_[index].values_begin;
    return std::span(values_).subspan(begin, nodes_[index + 1].values_begin - begin);
  }
  /// Values of all strings that begin with that of a node.
  std::span<const std::uint32_t> values_below(std::size_t index) const {
    const std::size_t begin = nodes_[index].values_begin;
    return std::span(values_).subspan(begin, nodes_[nodes_[index].skip].values_begin - begin);
  }
  bool has_values(std::size_t index) const {
    return nodes_[index].values_begin != nodes_[index + 1].values_begin;
  }
  /// Values of the empty string.
  std::span<const std::uint32_t> root_values() const {
    return std::span(values_).first(nodes_[0].values_begin);
  }

  /// The child of a node (of the root: kNoNode) along `byte`; kNoNode: there is none.
  std::uint32_t child(std::uint32_t parent, unsigned char byte) const;
  /// child() of the root.
  std::uint32_t first_child(unsigned char byte) const { return roots_[byte]; }

  /// Goes along `bytes` from a node (kNoNode: from the root) as far as there are nodes, and calls
  /// `visit(node)` at each. Returns the node behind the last byte; kNoNode: no string goes on so,
  /// or `bytes` is empty.
  template <class Visit>
  std::uint32_t follow(std::string_view bytes, const Visit& visit,
                       std::uint32_t from = kNoNode) const {
    std::uint32_t node = kNoNode;
    for (const char byte : bytes) {
      node = child(from, static_cast<unsigned char>(byte));
      if (node == kNoNode) break;
      visit(node);
      from = node;
    }
    return node;
  }

  /// Values of all strings, in alphabetical order of these; Node::values_begin counts in it.
  std::span<const std::uint32_t> all_values() const { return values_; }

  std::size_t memory_bytes() const;

 private:
  std::vector<Node> nodes_;  // and one behind the last
  std::array<std::uint32_t, 256> roots_;
  std::vector<std::uint32_t> values_;
};

/// Follows the trie with an automaton. `step(state, byte)` changes `state`; false: it died, which
/// ends the subtree. `found(values, state)` is called for each string that is reached, the empty
/// one included, in alphabetical order. `states` is scratch memory.
template <class State, class Step, class Found>
void walk_trie(const ByteTrie& trie, State start, std::vector<State>& states, const Step& step,
               const Found& found) {
  states.resize(ByteTrie::kDepthMax + 1);
  states[0] = start;
  if (!trie.root_values().empty()) found(trie.root_values(), std::as_const(states[0]));
  const std::size_t size = trie.size();
  for (std::size_t i = 0; i < size;) {
    const ByteTrie::Node& node = trie.node(i);
    State& next = states[node.depth];
    next = states[node.depth - 1u];
    if (!step(next, node.byte)) {
      i = node.skip;
      continue;
    }
    if (trie.has_values(i)) found(trie.values(i), std::as_const(next));
    ++i;
  }
}

}  // namespace zerohop

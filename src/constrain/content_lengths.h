// How long words from a state of an automaton may be: exact, for all states at once.
//
// The lengths of a state are mostly all numbers between the shortest and the longest word; whether
// that is so for all states together is checked in one pass over the edges (the equations that the
// sets satisfy have one solution, so a guess that satisfies them is right). Otherwise the sets are
// tabulated by length until they repeat, within a budget.
//
// Immutable after construction; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace zerohop {

/// Edges of an automaton whose states all reach acceptance. Repeated edges are allowed.
struct ContentGraph {
  std::vector<std::uint32_t> edges_begin;  ///< of state i: edges [begin[i], begin[i + 1])
  std::vector<std::uint32_t> edges;
  std::vector<std::uint8_t> accepting;
  std::size_t states() const { return accepting.size(); }
};

class ContentLengths {
 public:
  static constexpr std::uint32_t kUnbounded = UINT32_MAX;

  /// `min` and `max`: what whole words, those of state 0, are restricted to. Nothing when the
  /// budget of work does not suffice. A `min` up to shortest(0) decides nothing: count it as 0.
  static std::optional<ContentLengths> make(const ContentGraph& graph, std::uint32_t min,
                                            std::uint32_t max);

  std::uint32_t shortest(std::uint32_t state) const { return shortest_[state]; }
  std::uint32_t shortest_max() const { return shortest_max_; }  ///< of all states
  std::uint32_t longest(std::uint32_t state) const { return longest_[state]; }

  /// The smallest length of [from, to] that a word from `state` can have; nothing: none. `from` is
  /// at most `min`, and 0 when that is.
  std::optional<std::uint32_t> first_in(std::uint32_t state, std::uint32_t from,
                                        std::uint32_t to) const;

  /// From `state` on, whether a word can still be reached never depends on the lower bound.
  bool endless(std::uint32_t state) const { return endless_[state] != 0; }

  std::size_t memory_bytes() const;

 private:
  bool gapless(const ContentGraph& graph) const;
  bool tabulate(const ContentGraph& graph, std::uint32_t max);
  void find_shortest(const ContentGraph& back);
  void find_longest(const ContentGraph& graph, const ContentGraph& back);

  std::vector<std::uint32_t> shortest_;
  std::uint32_t shortest_max_ = 0;
  std::vector<std::uint32_t> longest_;
  std::vector<std::uint8_t> endless_;
  // Of length i: the states that have a word of it. From row `repeats_from_` on, the rows repeat.
  // Empty: not needed.
  std::vector<std::vector<bool>> rows_;
  std::size_t repeats_from_ = 0;
};

}  // namespace zerohop

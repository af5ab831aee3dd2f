// Whether, and how cheaply, what counts can be satisfied: a search over a few small numbers.
//
// A state is a tuple of numbers of which none ever falls back, so there are no cycles but moves
// that change nothing, which owners leave out. What is found is kept: asked about a state on a way
// that was found before, the answer is at hand. So whoever follows found ways never gets stuck,
// even where a search was given up because of its size.
//
// One owner; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace zerohop {

class PathSearch {
 public:
  using State = std::vector<std::uint32_t>;

  struct Move {
    State next;
    std::uint32_t cost = 0;
    std::uint64_t what = 0;  ///< the owner's
  };

  class Graph {
   public:
    virtual ~Graph() = default;
    virtual bool goal(const State& state) = 0;
    /// The most promising one last.
    virtual std::vector<Move> moves(const State& state) = 0;
    /// What the moves of one state cost, beside 1.
    virtual std::uint64_t work() const { return 0; }
  };

  /// What several searches may cost together. One that finds nothing left gives up.
  struct Budget {
    std::uint64_t left = UINT64_MAX;

    bool take(std::uint64_t amount) {
      const bool enough = amount <= left;
      left = enough ? left - amount : 0;
      return enough;
    }
  };

  /// `budget` outlives this.
  explicit PathSearch(Budget& budget) : budget_(budget) {}

  /// A goal can be reached.
  bool reaches(Graph& graph, const State& from);

  /// The moves of a cheapest way to a goal, or of some way where there are too many. `from`
  /// reaches one. The rest of a way that was found is found again at no cost.
  std::vector<Move> cheapest(Graph& graph, const State& from);

  /// Costs have changed.
  void forget_cheapest() { next_.clear(); }

  std::size_t memory_bytes() const {
    return known_.size() * kKnownBytes + next_.size() * kNextBytes;
  }

 private:
  static constexpr std::size_t kKnownBytes = 96;  // about
  static constexpr std::size_t kNextBytes = 200;
  static constexpr std::size_t kStatesMax = 50'000;  // of one search
  std::vector<Move> any_way(Graph& graph, State from);
  std::vector<Move> find_cheapest(Graph& graph, const State& from);

  Budget& budget_;
  std::map<State, bool> known_;
  std::map<State, Move> next_;  // on cheapest ways
};

}  // namespace zerohop

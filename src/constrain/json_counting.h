// Arrays and objects that count, as graphs for path_search.h.
//
// One owner; not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "constrain/json_progress.h"

namespace zerohop {

/// Adds one to the counters of `hits`; counts that no longer matter stay as they are. False: some
/// maximum is passed.
bool count_hits(const std::vector<FormCounter>& counters, std::vector<std::uint32_t>& values,
                std::uint32_t hits);

/// All minima are reached.
bool counts_suffice(const std::vector<FormCounter>& counters,
                    const std::vector<std::uint32_t>& values);

/// Bytes of a node's shortest document.
using NodeCost = std::function<std::uint32_t(SchemaNodeId)>;

/// States: items, then the counters. Moves: an item with its comma; `what` is the choice.
class JsonProgress::ArrayGraph : public PathSearch::Graph {
 public:
  ArrayGraph(const ArrayFacts& facts, NodeCost cost) : facts_(facts), cost_(std::move(cost)) {}

  static PathSearch::State state(std::uint32_t items, const std::vector<std::uint32_t>& counters);

  bool goal(const PathSearch::State& state) override;
  std::vector<PathSearch::Move> moves(const PathSearch::State& state) override;

 private:
  const ArrayFacts& facts_;
  NodeCost cost_;
};

/// States: the slot that is decided about, open and due properties, the number of properties, how
/// many names each class has left, the counters. Moves: leave the slot (kLeave), or take it; then
/// `what` is slot × 2^32 + choice.
class JsonProgress::ObjectGraph : public PathSearch::Graph {
 public:
  static constexpr std::uint64_t kLeave = UINT64_MAX;

  ObjectGraph(JsonProgress& progress, AlternativeId form, NodeCost cost)
      : progress_(progress), facts_(progress.forms_.object(form)), cost_(std::move(cost)) {}

  PathSearch::State state(const Progress& object);

  bool goal(const PathSearch::State& state) override;
  std::vector<PathSearch::Move> moves(const PathSearch::State& state) override;
  std::uint64_t work() const override { return facts_.words / 8; }

 private:
  struct Parts {
    std::uint32_t slot = 0;
    std::uint32_t bits = 0;
    std::uint32_t properties = 0;
    std::vector<std::uint32_t> left;
    std::vector<std::uint32_t> counters;
  };
  Parts parts(const PathSearch::State& state) const;
  PathSearch::State settled(Parts parts);
  void add_takes(const Parts& parts, std::vector<PathSearch::Move>& moves);
  bool leave(Parts& parts);

  JsonProgress& progress_;
  const ObjectFacts& facts_;
  NodeCost cost_;
};

}  // namespace zerohop

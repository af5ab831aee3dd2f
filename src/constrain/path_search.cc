#include "constrain/path_search.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <utility>

#include "base/check.h"

namespace zerohop {

bool PathSearch::reaches(Graph& graph, const State& from) {
  if (const auto known = known_.find(from); known != known_.end()) return known->second;
  struct Level {
    State state;
    std::vector<Move> moves;  // not tried yet
  };
  std::vector<Level> way;
  bool found = graph.goal(from);
  way.push_back({from, found ? std::vector<Move>{} : graph.moves(from)});
  for (std::size_t i = 0; !found && !way.empty() && i < kStatesMax;) {
    Level& level = way.back();
    if (level.moves.empty()) {
      known_.emplace(std::move(level.state), false);
      way.pop_back();
      continue;
    }
    State next = std::move(level.moves.back().next);
    level.moves.pop_back();
    if (const auto known = known_.find(next); known != known_.end()) {
      found = known->second;
      continue;
    }
    ++i;
    if (!budget_.take(1 + graph.work())) break;
    found = graph.goal(next);
    std::vector<Move> moves = found ? std::vector<Move>{} : graph.moves(next);
    way.push_back({std::move(next), std::move(moves)});
  }
  if (!found) {
    known_.emplace(from, false);
    return false;
  }
  for (Level& level : way) known_.insert_or_assign(std::move(level.state), true);
  return true;
}

std::vector<PathSearch::Move> PathSearch::any_way(Graph& graph, State from) {
  std::vector<Move> way;
  while (!graph.goal(from)) {
    std::vector<Move> moves = graph.moves(from);
    while (!moves.empty() && !reaches(graph, moves.back().next)) moves.pop_back();
    ZH_CHECK(!moves.empty());
    from = moves.back().next;
    way.push_back(std::move(moves.back()));
  }
  return way;
}

std::vector<PathSearch::Move> PathSearch::cheapest(Graph& graph, const State& from) {
  std::vector<Move> way;
  if (!next_.contains(from)) {
    way = find_cheapest(graph, from);
    State at = from;
    for (const Move& move : way) {
      next_.emplace(std::move(at), move);
      at = move.next;
    }
    return way;
  }
  for (auto known = next_.find(from); known != next_.end(); known = next_.find(way.back().next)) {
    way.push_back(known->second);
  }
  return way;
}

// Dijkstra's algorithm.
std::vector<PathSearch::Move> PathSearch::find_cheapest(Graph& graph, const State& from) {
  struct Seen {
    std::uint64_t cost = UINT64_MAX;
    State before;
    Move move;
    bool done = false;
  };
  std::map<State, Seen> seen;
  using Item = std::pair<std::uint64_t, State>;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> open;
  seen[from].cost = 0;
  open.emplace(0, from);
  while (!open.empty()) {
    const auto [cost, state] = open.top();
    open.pop();
    if (std::exchange(seen[state].done, true)) continue;
    if (graph.goal(state)) {
      std::vector<Move> way;
      for (State at = state; at != from; at = seen[at].before) way.push_back(seen[at].move);
      std::reverse(way.begin(), way.end());
      return way;
    }
    if (seen.size() > kStatesMax || !budget_.take(1 + graph.work())) break;
    for (Move& move : graph.moves(state)) {
      Seen& next = seen[move.next];
      if (next.done || cost + move.cost >= next.cost) continue;
      next.cost = cost + move.cost;
      next.before = state;
      open.emplace(next.cost, move.next);
      next.move = std::move(move);
    }
  }
  return any_way(graph, from);
}

}  // namespace zerohop

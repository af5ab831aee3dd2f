#include "constrain/content_lengths.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace zerohop {

namespace {

// Edges looked at while lengths are tabulated: some 0.05 s.
constexpr std::size_t kWorkMax = 20'000'000;

ContentGraph reversed(const ContentGraph& graph) {
  const std::size_t states = graph.states();
  ContentGraph back{.edges_begin = std::vector<std::uint32_t>(states + 1),
                    .edges = std::vector<std::uint32_t>(graph.edges.size()),
                    .accepting = graph.accepting};
  for (const std::uint32_t target : graph.edges) ++back.edges_begin[target + 1];
  for (std::size_t i = 0; i < states; ++i) back.edges_begin[i + 1] += back.edges_begin[i];
  std::vector<std::uint32_t> next(back.edges_begin.begin(), back.edges_begin.end() - 1);
  for (std::uint32_t state = 0; state < states; ++state) {
    for (std::uint32_t i = graph.edges_begin[state]; i < graph.edges_begin[state + 1]; ++i) {
      back.edges[next[graph.edges[i]]++] = state;
    }
  }
  return back;
}

std::uint32_t plus_one(std::uint32_t length) {
  return length == ContentLengths::kUnbounded ? length : length + 1;
}

}  // namespace

std::optional<ContentLengths> ContentLengths::make(const ContentGraph& graph, std::uint32_t min,
                                                   std::uint32_t max) {
  ContentLengths lengths;
  const ContentGraph back = reversed(graph);
  lengths.find_shortest(back);
  lengths.find_longest(graph, back);

  // Who can come to a state with finitely many words?
  lengths.endless_.assign(graph.states(), 1);
  std::vector<std::uint32_t> open;
  for (std::uint32_t state = 0; state < graph.states(); ++state) {
    if (lengths.longest_[state] == kUnbounded) continue;
    lengths.endless_[state] = 0;
    open.push_back(state);
  }
  while (!open.empty()) {
    const std::uint32_t state = open.back();
    open.pop_back();
    for (std::uint32_t i = back.edges_begin[state]; i < back.edges_begin[state + 1]; ++i) {
      if (std::exchange(lengths.endless_[back.edges[i]], std::uint8_t{0}) != 0) {
        open.push_back(back.edges[i]);
      }
    }
  }

  // Where no word is shorter than `min` anyway, it decides nothing.
  if (min <= lengths.shortest_[0] || lengths.gapless(graph)) return lengths;
  if (!lengths.tabulate(graph, max)) return std::nullopt;
  if (max != kUnbounded) std::fill(lengths.endless_.begin(), lengths.endless_.end(), 0);
  return lengths;
}

void ContentLengths::find_shortest(const ContentGraph& back) {
  shortest_.assign(back.states(), kUnbounded);
  std::vector<std::uint32_t> queue;
  for (std::uint32_t state = 0; state < back.states(); ++state) {
    if (back.accepting[state] == 0) continue;
    shortest_[state] = 0;
    queue.push_back(state);
  }
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const std::uint32_t state = queue[next];
    shortest_max_ = shortest_[state];
    for (std::uint32_t i = back.edges_begin[state]; i < back.edges_begin[state + 1]; ++i) {
      if (shortest_[back.edges[i]] != kUnbounded) continue;
      shortest_[back.edges[i]] = shortest_[state] + 1;
      queue.push_back(back.edges[i]);
    }
  }
}

// States whose edges all lead to finished ones are finished; what is left can go around for ever.
void ContentLengths::find_longest(const ContentGraph& graph, const ContentGraph& back) {
  longest_.assign(graph.states(), kUnbounded);
  std::vector<std::uint32_t> waiting(graph.states());
  std::vector<std::uint32_t> ready;
  for (std::uint32_t state = 0; state < graph.states(); ++state) {
    waiting[state] = graph.edges_begin[state + 1] - graph.edges_begin[state];
    if (waiting[state] == 0) ready.push_back(state);
  }
  while (!ready.empty()) {
    const std::uint32_t state = ready.back();
    ready.pop_back();
    std::uint32_t longest = 0;
    for (std::uint32_t i = graph.edges_begin[state]; i < graph.edges_begin[state + 1]; ++i) {
      longest = std::max(longest, longest_[graph.edges[i]] + 1);
    }
    longest_[state] = longest;
    for (std::uint32_t i = back.edges_begin[state]; i < back.edges_begin[state + 1]; ++i) {
      if (--waiting[back.edges[i]] == 0) ready.push_back(back.edges[i]);
    }
  }
}

// Whether "all from shortest to longest" satisfies, for every state, lengths(state) = {0 if it
// accepts} and lengths(next) + 1 of all that follow.
bool ContentLengths::gapless(const ContentGraph& graph) const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> spans;
  for (std::uint32_t state = 0; state < graph.states(); ++state) {
    spans.clear();
    if (graph.accepting[state] != 0) spans.emplace_back(0, 0);
    for (std::uint32_t i = graph.edges_begin[state]; i < graph.edges_begin[state + 1]; ++i) {
      const std::uint32_t next = graph.edges[i];
      spans.emplace_back(shortest_[next] + 1, plus_one(longest_[next]));
    }
    std::sort(spans.begin(), spans.end());
    std::uint32_t covered = spans.front().second;
    for (const auto& [first, last] : spans) {
      if (covered != kUnbounded && first > covered + 1) return false;
      covered = std::max(covered, last);
    }
  }
  return true;
}

bool ContentLengths::tabulate(const ContentGraph& graph, std::uint32_t max) {
  const std::size_t row_work = graph.edges.size() + graph.states();
  std::unordered_map<std::vector<bool>, std::size_t> seen;
  std::vector<bool> row(graph.states());
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = graph.accepting[i] != 0;
  for (std::size_t work = 0;; work += row_work) {
    if (work > kWorkMax) return false;
    const auto [known, added] = seen.try_emplace(row, rows_.size());
    if (!added) {
      repeats_from_ = known->second;
      return true;
    }
    rows_.push_back(row);
    if (max != kUnbounded && rows_.size() > max) {  // longer words are of no interest
      repeats_from_ = rows_.size();
      return true;
    }
    std::vector<bool> longer(graph.states());
    for (std::uint32_t state = 0; state < graph.states(); ++state) {
      for (std::uint32_t i = graph.edges_begin[state]; i < graph.edges_begin[state + 1]; ++i) {
        if (!row[graph.edges[i]]) continue;
        longer[state] = true;
        break;
      }
    }
    row = std::move(longer);
  }
}

std::optional<std::uint32_t> ContentLengths::first_in(std::uint32_t state, std::uint32_t from,
                                                      std::uint32_t to) const {
  to = std::min(to, longest_[state]);
  from = std::max(from, shortest_[state]);
  if (from > to) return std::nullopt;
  if (from == shortest_[state] || rows_.empty()) return from;
  const std::size_t period = rows_.size() - repeats_from_;
  std::size_t left = rows_.size();  // a full turn shows all there is
  for (std::uint32_t length = from; left > 0; ++length, --left) {
    std::size_t row = length;
    if (row >= rows_.size()) {
      if (period == 0) return std::nullopt;
      row = repeats_from_ + (row - repeats_from_) % period;
    }
    if (rows_[row][state]) return length;
    if (length == to) return std::nullopt;
  }
  return std::nullopt;
}

std::size_t ContentLengths::memory_bytes() const {
  return shortest_.capacity() * 9 + rows_.size() * (shortest_.size() / 8 + 40);
}

}  // namespace zerohop

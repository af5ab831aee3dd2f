// From a term to the states of its automaton: derivatives until no new term appears, then the
// states from which no word ends are cut away.
#include <unordered_map>
#include <utility>

#include "constrain/content_automaton_parts.h"

namespace zerohop {

namespace {

Error too_large(std::size_t states_max) {
  return invalid_request("", "it needs more than " + std::to_string(states_max) + " states");
}

std::vector<std::uint8_t> reaching_acceptance(const ContentTerms& terms) {
  const std::size_t states = terms.accepting.size();
  std::vector<std::vector<std::uint32_t>> back(states);
  for (std::uint32_t state = 0; state < states; ++state) {
    for (const ContentTerms::Edge& edge : terms.edges[state]) back[edge.target].push_back(state);
  }
  std::vector<std::uint8_t> reaches = terms.accepting;
  std::vector<std::uint32_t> open;
  for (std::uint32_t state = 0; state < states; ++state) {
    if (reaches[state] != 0) open.push_back(state);
  }
  while (!open.empty()) {
    const std::uint32_t state = open.back();
    open.pop_back();
    for (const std::uint32_t before : back[state]) {
      if (std::exchange(reaches[before], std::uint8_t{1}) == 0) open.push_back(before);
    }
  }
  return reaches;
}

ContentTerms without_dead_states(ContentTerms terms) {
  const std::vector<std::uint8_t> reaches = reaching_acceptance(terms);
  if (reaches[0] == 0) return {};
  std::vector<std::uint32_t> number(reaches.size());
  std::uint32_t states = 0;
  for (std::size_t state = 0; state < reaches.size(); ++state) {
    number[state] = reaches[state] != 0 ? states++ : 0;
  }
  if (states == reaches.size()) return terms;
  ContentTerms live;
  for (std::size_t state = 0; state < reaches.size(); ++state) {
    if (reaches[state] == 0) continue;
    live.accepting.push_back(terms.accepting[state]);
    auto& edges = live.edges.emplace_back();
    for (const ContentTerms::Edge& edge : terms.edges[state]) {
      if (reaches[edge.target] != 0) edges.push_back({edge.set, number[edge.target]});
    }
  }
  return live;
}

}  // namespace

Result<ContentTerms> explore_term(RegexPool& pool, RegexTerm term, std::size_t states_max) {
  ContentTerms found;
  std::vector<RegexTerm> states{term};
  std::unordered_map<RegexTerm, std::uint32_t> numbers{{term, 0}};
  for (std::size_t state = 0; state < states.size(); ++state) {
    found.accepting.push_back(pool.nullable(states[state]) ? 1 : 0);
    auto& edges = found.edges.emplace_back();
    for (const auto& [set, target] : pool.live_derivatives(states[state])) {
      const auto [entry, added] =
          numbers.try_emplace(target, static_cast<std::uint32_t>(states.size()));
      if (added) states.push_back(target);
      edges.push_back({set, entry->second});
    }
    if (pool.exhausted()) return invalid_request("", "it is too complex");
    if (states.size() > states_max) return too_large(states_max);
  }
  return without_dead_states(std::move(found));
}

}  // namespace zerohop

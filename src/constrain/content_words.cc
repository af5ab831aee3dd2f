// Counting and listing the words of a content automaton.
//
// Depth first over the places that can still be finished, the nearest end first: every branch ends
// in a word, so the work is bounded by the words asked for times their length.
#include <algorithm>
#include <utility>

#include "constrain/content_automaton_parts.h"

namespace zerohop {

namespace {

struct Place {
  std::uint32_t state = 0;
  std::uint32_t count = 0;
  std::size_t ways = 1;  // of writing what leads here, at most the limit
};

std::size_t capped_product(std::size_t a, std::size_t b, std::size_t limit) {
  return a != 0 && b > limit / a ? limit : std::min(limit, a * b);
}

}  // namespace

std::size_t ContentAutomaton::count_words(std::uint32_t state, std::uint32_t count,
                                          std::size_t limit) const {
  const Parts& parts = *parts_;
  if (!live(state, count)) return 0;
  if (parts.length.max == kUnbounded && parts.lengths.longest(state) == kUnbounded) return limit;
  std::size_t words = 0;
  std::vector<Place> open{{state, count, 1}};
  while (!open.empty() && words < limit) {
    const Place place = open.back();
    open.pop_back();
    if (accepts(place.state, place.count)) words = std::min(limit, words + place.ways);
    const std::size_t first = open.size();
    for (const Parts::Step& step : parts.steps(place.state)) {
      if (!live(step.target, place.count + 1)) continue;
      const std::size_t members = parts.symbols[step.symbol].size();
      open.push_back({step.target, place.count + 1, capped_product(place.ways, members, limit)});
    }
    std::sort(open.begin() + static_cast<std::ptrdiff_t>(first), open.end(),
              [&](const Place& a, const Place& b) {
                return parts.lengths.shortest(a.state) > parts.lengths.shortest(b.state);
              });
  }
  return words;
}

std::optional<std::vector<std::u32string>> ContentAutomaton::words(std::uint32_t state,
                                                                   std::uint32_t count,
                                                                   std::size_t limit) const {
  if (count_words(state, count, limit + 1) > limit) return std::nullopt;
  std::vector<std::u32string> found;
  if (!live(state, count)) return found;
  std::vector<std::pair<std::uint32_t, std::u32string>> open{{state, {}}};
  while (!open.empty()) {
    const auto [place, word] = std::move(open.back());
    open.pop_back();
    const auto read = count + static_cast<std::uint32_t>(word.size());
    if (accepts(place, read)) found.push_back(word);
    for (const Parts::Step& step : parts_->steps(place)) {
      if (!live(step.target, read + 1)) continue;
      for (const CodePointRange& range : parts_->symbols[step.symbol].ranges()) {
        for (char32_t letter = range.first; letter <= range.last; ++letter) {
          open.emplace_back(step.target, word + letter);
        }
      }
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace zerohop

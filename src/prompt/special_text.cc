#include "prompt/special_text.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace zerohop {

SpecialTextFinder::SpecialTextFinder(std::span<const std::string> texts) {
  std::vector<std::string> named;
  std::copy_if(texts.begin(), texts.end(), std::back_inserter(named),
               [](const std::string& text) { return !text.empty(); });
  automaton_ = StopAutomaton::compile(named);
}

// Calls visit(occurrence) for the longest special text that ends at each byte, until it returns
// false. Shorter ones with the same end lie inside it.
template <class Visit>
void SpecialTextFinder::scan(std::string_view text, Visit visit) const {
  StopAutomaton::State state = StopAutomaton::kStart;
  for (std::size_t position = 0; position < text.size(); ++position) {
    state = automaton_->next(state, static_cast<unsigned char>(text[position]));
    const std::optional<std::size_t> index = automaton_->match(state);
    if (!index) continue;
    const std::size_t end = position + 1;
    if (!visit(SpecialOccurrence{{end - automaton_->stop(*index).size(), end}, *index})) return;
  }
}

std::vector<SpecialOccurrence> SpecialTextFinder::find(std::string_view text) const {
  std::vector<SpecialOccurrence> candidates;
  scan(text, [&](const SpecialOccurrence& occurrence) {
    candidates.push_back(occurrence);
    return true;
  });
  if (candidates.size() < 2) return candidates;

  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.index < b.index; });
  // What was taken before is at least as long: it overlaps a candidate only over one of its ends.
  std::vector<bool> covered(text.size(), false);
  std::vector<SpecialOccurrence> taken;
  for (const SpecialOccurrence& occurrence : candidates) {
    const auto [begin, end] = occurrence.range;
    if (covered[begin] || covered[end - 1]) continue;
    std::fill(covered.begin() + static_cast<std::ptrdiff_t>(begin),
              covered.begin() + static_cast<std::ptrdiff_t>(end), true);
    taken.push_back(occurrence);
  }
  std::sort(taken.begin(), taken.end(),
            [](const auto& a, const auto& b) { return a.range.begin < b.range.begin; });
  return taken;
}

bool SpecialTextFinder::touches(std::string_view text, std::span<const ByteRange> ranges) const {
  bool touched = false;
  scan(text, [&](const SpecialOccurrence& occurrence) {
    const auto first_that_ends_behind = std::upper_bound(
        ranges.begin(), ranges.end(), occurrence.range.begin,
        [](std::size_t begin, const ByteRange& range) { return begin < range.end; });
    touched = first_that_ends_behind != ranges.end() &&
              first_that_ends_behind->begin < occurrence.range.end;
    return !touched;
  });
  return touched;
}

std::vector<SpecialOccurrence> SpecialTextFinder::find_between(
    std::string_view text, std::span<const ByteRange> ranges) const {
  std::vector<SpecialOccurrence> found;
  std::size_t begin = 0;
  const auto add_gap = [&](std::size_t end) {
    for (SpecialOccurrence occurrence : find(text.substr(begin, end - begin))) {
      occurrence.range.begin += begin;
      occurrence.range.end += begin;
      found.push_back(occurrence);
    }
  };
  for (const ByteRange& range : ranges) {
    add_gap(range.begin);
    begin = range.end;
  }
  add_gap(text.size());
  return found;
}

}  // namespace zerohop

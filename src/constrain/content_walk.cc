#include "constrain/content_walk.h"

#include <algorithm>
#include <utility>

namespace zerohop {

ContentWalk::ContentWalk(const ContentRun& run, const ContentVocabulary& vocabulary,
                         ContentTables& tables)
    : run_(run),
      vocabulary_(vocabulary),
      tables_(tables),
      automaton_(*run.automaton),
      bounded_(run.characters_max != ContentAutomaton::kUnbounded),
      decoder_(automaton_, run.coding),
      places_(vocabulary.summary.depth() + 1) {
  tables_.use(automaton_);
}

void ContentWalk::add_to(MaskBuilder& mask) {
  const auto& next = tables_.row(run_.state).next;
  const auto dead = std::count(next.begin(), next.end(), ContentAutomaton::kNoState);
  if (static_cast<std::size_t>(dead) > next.size() / 2) return walk(Method::kAdd, mask);
  MaskBuilder most(mask.width());
  most.add(vocabulary_.anything);
  walk(Method::kRemove, most);
  mask.add(most);
}

void ContentWalk::walk(Method method, MaskBuilder& mask) {
  const ByteTrie& trie = vocabulary_.trie;
  places_[0].state = run_.state;
  for (std::size_t i = 0; i < trie.size();) {
    const ByteTrie::Node& node = trie.node(i);
    ++looked_at_;
    if (!step(node)) {
      if (method == Method::kRemove) mask.remove(trie.values_below(i));
      i = node.skip;
      continue;
    }
    const auto below = i + 1 < node.skip ? left_out(places_[node.depth], i) : std::nullopt;
    if (below) {
      method == Method::kAdd ? add_below(*below, mask) : remove_below(*below, mask);
      i = node.skip;
      continue;
    }
    if (method == Method::kAdd && trie.has_values(i)) mask.add(trie.values(i));
    ++i;
  }
}

bool ContentWalk::step(const ByteTrie::Node& node) {
  const Place& outside = places_[node.depth - 1u];
  if (outside.state == kInside || node.byte >= 0x80) return slow_step(node);
  const std::uint32_t next = tables_.row(outside.state).next[node.byte];
  if (next == ContentAutomaton::kNoState) return false;
  if (next == ContentTables::kAsk) return slow_step(node);
  if (too_long(next, outside.read + 1)) return false;
  Place& place = places_[node.depth];
  place.state = next;
  place.read = outside.read + 1;
  return true;
}

bool ContentWalk::slow_step(const ByteTrie::Node& node) {
  const Place& outside = places_[node.depth - 1u];
  Place& place = places_[node.depth];
  place.read = outside.read;
  place.inside = outside.inside;
  if (outside.state != kInside) {
    place.inside = {.state = outside.state, .count = run_.count + outside.read};
  }
  if (!decoder_.step(place.inside, node.byte)) return false;
  place.state = kInside;
  if (decoder_.at_character_border(place.inside)) {
    place.state = place.inside.state;
    ++place.read;
  }
  return true;
}

std::optional<ContentWalk::Below> ContentWalk::left_out(const Place& place, std::size_t node) {
  Below below{.state = place.state, .read = place.read, .node = node};
  if (place.state == kInside) {
    // Of a character from U+0080 on, unless it is an escape.
    if (vocabulary_.trie.node(node).byte < 0x80) return std::nullopt;
    const ContentTables::Row& outside = tables_.row(place.inside.state);
    if ((outside.to_home >> TrieSummary::kWide & 1) == 0) return std::nullopt;
    below.state = outside.home;
    ++below.read;
  }
  if ((vocabulary_.summary.below(node) & ~tables_.row(below.state).alive) != 0) return std::nullopt;
  if (leads_home(below.state, node)) return below;
  below.certain = is_safe(below);
  if (!below.certain) return std::nullopt;
  return below;
}

bool ContentWalk::is_safe(const Below& below) {
  const ContentTables::Row& here = tables_.safe_row(below.state);
  if ((vocabulary_.summary.below(below.node) & ~here.safe) != 0) return false;
  if (!bounded_) return true;
  const unsigned levels = vocabulary_.summary.levels(below.node);
  return levels < TrieSummary::kDeep && below.read + levels + here.safe_end <= run_.characters_max;
}

// Whether everything below the node leads from home to home, so that all of it is alive.
bool ContentWalk::leads_home(std::uint32_t state, std::size_t node) {
  const TrieSummary::ClassSet bytes = vocabulary_.summary.below(node);
  const unsigned levels = vocabulary_.summary.levels(node);
  for (unsigned level = 0; level < levels; ++level) {
    const ContentTables::Row& here = tables_.row(state);
    if ((bytes & ~here.to_home) != 0) return false;
    if (here.home == state) return true;
    state = here.home;
  }
  return levels < TrieSummary::kDeep;
}

void ContentWalk::find_ends(const Below& below) {
  ends_.clear();
  std::uint32_t state = below.state;
  for (unsigned level = 0; level <= vocabulary_.summary.levels(below.node); ++level) {
    ends_.push_back(automaton_.nearest_end(state));
    const std::uint32_t home = tables_.row(state).home;
    if (home == state) break;
    state = home;
  }
}

void ContentWalk::add_below(const Below& below, MaskBuilder& mask) {
  const ByteTrie& trie = vocabulary_.trie;
  const std::span<const std::uint32_t> tokens = trie.values_below(below.node);
  const std::size_t first = trie.node(below.node).values_begin;
  const bool bounded = bounded_ && !below.certain;
  if (bounded) find_ends(below);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::uint16_t characters = vocabulary_.characters[first + i];
    if (characters == ContentVocabulary::kNever) continue;
    if (bounded && too_long(below, characters)) continue;
    mask.add(static_cast<Token>(tokens[i]));
  }
}

void ContentWalk::remove_below(const Below& below, MaskBuilder& mask) {
  if (!bounded_ || below.certain) return;
  const ByteTrie& trie = vocabulary_.trie;
  find_ends(below);
  const unsigned levels = vocabulary_.summary.levels(below.node);
  const std::uint32_t most = *std::max_element(ends_.begin(), ends_.end());
  if (levels < TrieSummary::kDeep && below.read + levels + most <= run_.characters_max) return;
  const std::span<const std::uint32_t> tokens = trie.values_below(below.node);
  const std::size_t first = trie.node(below.node).values_begin;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::uint16_t characters = vocabulary_.characters[first + i];
    if (characters == ContentVocabulary::kNever || !too_long(below, characters)) continue;
    mask.remove(static_cast<Token>(tokens[i]));
  }
}

}  // namespace zerohop

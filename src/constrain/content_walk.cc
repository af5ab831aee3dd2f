#include "constrain/content_walk.h"

#include <algorithm>
#include <utility>

namespace zerohop {

ContentWalk::ContentWalk(const ContentRun& run, const ContentVocabulary& vocabulary)
    : run_(run),
      vocabulary_(vocabulary),
      automaton_(*run.automaton),
      bounded_(run.characters_max != ContentAutomaton::kUnbounded),
      decoder_(automaton_, run.coding),
      row_of_(automaton_.states(), 0),
      rows_(1),
      places_(vocabulary.summary.depth() + 1) {}

void ContentWalk::add_to(MaskBuilder& mask) {
  const auto& next = row(run_.state).next;
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

std::uint32_t ContentWalk::make_row(std::uint32_t state) {
  row_of_[state] = static_cast<std::uint32_t>(rows_.size());
  Row& row = rows_.emplace_back();
  const bool json = decoder_.coding() != TextCoding::kUtf8;
  for (std::uint32_t byte = 0; byte < row.next.size(); ++byte) {
    if (json && (byte < 0x20 || byte == '"')) {
      row.next[byte] = ContentAutomaton::kNoState;
    } else {
      row.next[byte] = json && byte == '\\' ? kAsk : automaton_.step(state, byte);
    }
  }
  find_targets(state, row);
  find_home(state, row);
  return row_of_[state];
}

void ContentWalk::find_targets(std::uint32_t state, Row& row) {
  using ClassSet = TrieSummary::ClassSet;
  const std::size_t begin = targets_.size();
  const auto add = [&](std::uint32_t next, std::uint8_t which, unsigned bytes) {
    std::size_t i = begin;
    while (i < targets_.size() && targets_[i].state != next) ++i;
    if (i == targets_.size()) targets_.push_back({.state = next});
    targets_[i].bytes += bytes;
    targets_[i].classes |= ClassSet{1} << which;
  };
  row.alive = TrieSummary::kAllClasses & ~(ClassSet{1} << TrieSummary::kControls);
  for (std::uint32_t byte = 0; byte < row.next.size(); ++byte) {
    const auto which = TrieSummary::class_of(static_cast<unsigned char>(byte));
    if (row.next[byte] == ContentAutomaton::kNoState || row.next[byte] == kAsk) {
      row.alive &= ~(ClassSet{1} << which);
    } else {
      add(row.next[byte], which, 1);
    }
  }
  const bool wide = automaton_.beyond_ascii(state, beyond_);
  for (const std::uint32_t next : beyond_) add(next, TrieSummary::kWide, 0);
  if (!wide) row.alive &= ~(ClassSet{1} << TrieSummary::kWide);
  row.targets_begin = static_cast<std::uint32_t>(begin);
  row.targets_end = static_cast<std::uint32_t>(targets_.size());
}

void ContentWalk::find_home(std::uint32_t state, Row& row) const {
  row.home = state;
  if (automaton_.open(state)) {
    row.to_home = row.alive = TrieSummary::kAllClasses;
    return;
  }
  const Target* most = nullptr;
  for (std::uint32_t i = row.targets_begin; i < row.targets_end; ++i) {
    if (most == nullptr || targets_[i].bytes > most->bytes) most = &targets_[i];
  }
  if (most == nullptr) return;
  row.home = most->state;
  row.to_home = row.alive & most->classes;
  for (std::uint32_t i = row.targets_begin; i < row.targets_end; ++i) {
    if (&targets_[i] != most) row.to_home &= ~targets_[i].classes;
  }
}

// All states that words made of `classes` lead to, if they are few.
bool ContentWalk::reach(std::uint32_t state, TrieSummary::ClassSet classes) {
  constexpr std::size_t kReachMax = 32;
  reached_.assign(1, state);
  for (std::size_t i = 0; i < reached_.size(); ++i) {
    const Row& here = row(reached_[i]);
    for (std::uint32_t target = here.targets_begin; target < here.targets_end; ++target) {
      if ((targets_[target].classes & classes) == 0) continue;
      const std::uint32_t next = targets_[target].state;
      if (std::find(reached_.begin(), reached_.end(), next) != reached_.end()) continue;
      if (reached_.size() == kReachMax) return false;
      reached_.push_back(next);
    }
  }
  return true;
}

// Classes that are alive wherever they lead themselves: fewer and fewer, until that is so.
const ContentWalk::Row& ContentWalk::safe_row(std::uint32_t state) {
  if (row(state).safe_known) return row(state);
  TrieSummary::ClassSet safe = row(state).alive;
  for (TrieSummary::ClassSet before = 0; safe != before;) {
    before = safe;
    if (!reach(state, safe)) safe = 0;
    for (const std::uint32_t other : reached_) safe &= row(other).alive;
  }
  std::uint32_t end = 0;
  for (const std::uint32_t other : reached_) end = std::max(end, automaton_.nearest_end(other));
  Row& here = row(state);
  here.safe_known = true;
  here.safe = safe;
  here.safe_end = end;
  return here;
}

bool ContentWalk::step(const ByteTrie::Node& node) {
  const Place& outside = places_[node.depth - 1u];
  if (outside.state == kInside || node.byte >= 0x80) return slow_step(node);
  const std::uint32_t next = row(outside.state).next[node.byte];
  if (next == ContentAutomaton::kNoState) return false;
  if (next == kAsk) return slow_step(node);
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
    const Row& outside = row(place.inside.state);
    if ((outside.to_home >> TrieSummary::kWide & 1) == 0) return std::nullopt;
    below.state = outside.home;
    ++below.read;
  }
  if ((vocabulary_.summary.below(node) & ~row(below.state).alive) != 0) return std::nullopt;
  if (leads_home(below.state, node)) return below;
  below.certain = is_safe(below);
  if (!below.certain) return std::nullopt;
  return below;
}

bool ContentWalk::is_safe(const Below& below) {
  const Row& here = safe_row(below.state);
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
    const Row& here = row(state);
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
    const std::uint32_t home = row(state).home;
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

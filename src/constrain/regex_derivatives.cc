// Derivatives: what of a language is left behind a first character (Brzozowski 1964), for whole
// classes of characters at once (Owens, Reppy, Turon 2009).
//
// A term's derivatives are a list of (set, term); sets are disjoint, and outside of them nothing is
// left. The classes of a union of n terms are found by one sweep over the borders of all their
// sets, not by n products of partitions: an enumeration of 1,000 words costs 1,000 borders and one
// union for each first letter.
//
// How sets cut each other is remembered by their numbers: the 255 states of \p{L}{1,255} have the
// same sets, and only the terms behind them change.
//
//   d(a·b)      = d(a)·b            (| d(b) when a has the empty word)
//   d(a | b)    = d(a) | d(b)       likewise & and ¬
//   d(a U b)    = d(b) | d(a) & (a U b)
//   d(R{m,n})   = d(R)·R{m-1,n-1}   (m = 0 when R has the empty word)
#include <algorithm>
#include <unordered_map>

#include "constrain/regex_algebra.h"
#include "constrain/regex_pool_parts.h"

namespace zerohop {

namespace {

std::uint32_t one_less(std::uint32_t count) {
  return count == 0 || count == RegexPool::kNoBound ? count : count - 1;
}

// Not mix64(): compiling patterns takes longer with it.
constexpr std::uint64_t weight(std::uint32_t a, std::uint32_t b) {
  const std::uint64_t hash = (static_cast<std::uint64_t>(a) << 32 | b) * 0x9fb21c651e98df25;
  return (hash ^ (hash >> 31)) * 0xc4ceb9fe1a85ec53;
}

}  // namespace

const RegexPool::Parts::Classes& RegexPool::Parts::classes(RegexTerm term) {
  if (!derived[term]) {
    auto found = std::make_unique<const Classes>(derive(term));
    class_entries += found->size();
    derived[term] = std::move(found);
  }
  return *derived[term];
}

RegexPool::Parts::Classes RegexPool::Parts::derive(RegexTerm term) {
  if (!spend(1)) return {};
  const Node node = nodes[term];
  switch (node.kind) {
    case Kind::kEmpty: return {};
    case Kind::kSet: return term == kNothing ? Classes{} : Classes{{node.a, kEmptyWord}};
    case Kind::kConcat: return derive_concat(term);
    case Kind::kEither:
    case Kind::kBoth: return derive_list(term);
    case Kind::kNot: return negated(classes(node.a));
    case Kind::kUntil: return derive_until(term);
    case Kind::kRepeat:
      return behind(classes(node.a), repeat(node.a, one_less(node.b), one_less(node.c)));
  }
  return {};
}

// Along the chain as long as what stands in front has the empty word.
RegexPool::Parts::Classes RegexPool::Parts::derive_concat(RegexTerm term) {
  std::vector<Classes> heads;
  std::vector<const Classes*> parts;
  RegexTerm rest = term;
  while (is(rest, Kind::kConcat)) {
    const Node node = nodes[rest];
    heads.push_back(behind(classes(node.a), node.b));
    if (!nodes[node.a].nullable) break;
    rest = node.b;
    if (!is(rest, Kind::kConcat)) parts.push_back(&classes(rest));
  }
  if (heads.size() == 1 && parts.empty()) return std::move(heads.front());
  for (const Classes& head : heads) parts.push_back(&head);
  return combine(parts, [this](std::vector<RegexTerm>& now) { return either(now); });
}

RegexPool::Parts::Classes RegexPool::Parts::derive_list(RegexTerm term) {
  std::vector<const Classes*> parts;
  // By number: classes() may make terms, which moves the lists.
  for (std::size_t i = 0; i < nodes[term].b; ++i) {
    parts.push_back(&classes(children[nodes[term].a + i]));
  }
  if (is(term, Kind::kEither)) {
    return combine(parts, [this](std::vector<RegexTerm>& now) { return either(now); });
  }
  return combine(parts, [this](std::vector<RegexTerm>& now) { return both(now); });
}

RegexPool::Parts::Classes RegexPool::Parts::derive_until(RegexTerm term) {
  const Node node = nodes[term];
  const Classes* const parts[] = {&classes(node.a), &classes(node.b)};
  return combine(parts, [&](const std::vector<RegexTerm>& now) {
    std::vector<RegexTerm> on{now[0], term};
    std::vector<RegexTerm> ways{now[1], both(on)};
    return either(ways);
  });
}

void RegexPool::Parts::add_class(Classes& target, SetId set, RegexTerm term) {
  if (term == kNothing) return;
  if (!spend(target.size() + 1)) return;
  for (auto& [known, known_term] : target) {
    if (known_term != term) continue;
    known = united(known, set);
    return;
  }
  target.emplace_back(set, term);
}

RegexPool::Parts::Classes RegexPool::Parts::behind(const Classes& heads, RegexTerm tail) {
  Classes found;
  found.reserve(heads.size());
  for (const auto& [set, term] : heads) add_class(found, set, concat(term, tail));
  return found;
}

RegexPool::Parts::Classes RegexPool::Parts::negated(const Classes& positive) {
  Classes found;
  std::vector<CodePointRange> covered;
  for (const auto& [set, term] : positive) {
    const auto ranges = sets[set].ranges();
    covered.insert(covered.end(), ranges.begin(), ranges.end());
    add_class(found, set, complement(term));
  }
  const CodePointSet rest = CodePointSet::of(std::move(covered)).complement();
  if (!rest.empty()) add_class(found, intern(rest), kAny);
  return found;
}

template <class Compose>
RegexPool::Parts::Classes RegexPool::Parts::combine(std::span<const Classes* const> parts,
                                                    const Compose& compose) {
  Classes found;
  std::vector<RegexTerm> now;
  for (const Piece& piece : pieces_of(parts)) {
    if (!spend(parts.size())) return {};
    now.assign(parts.size(), kNothing);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (piece.classes[i] != kNoClass) now[i] = (*parts[i])[piece.classes[i]].second;
    }
    add_class(found, piece.set, compose(now));
  }
  return found;
}

const std::vector<RegexPool::Parts::Piece>& RegexPool::Parts::pieces_of(
    std::span<const Classes* const> parts) {
  std::vector<std::uint32_t> key;
  for (const Classes* const part : parts) {
    key.push_back(static_cast<std::uint32_t>(part->size()));
    for (const auto& [set, target] : *part) key.push_back(set);
  }
  const auto known = pieces_known.find(key);
  if (known != pieces_known.end()) return known->second;
  return pieces_known.emplace(std::move(key), cut(parts)).first->second;
}

// One sweep over the borders of all sets. `now` holds the class of each part at the place of the
// sweep; equal `now` are one piece.
std::vector<RegexPool::Parts::Piece> RegexPool::Parts::cut(std::span<const Classes* const> parts) {
  struct Border {
    char32_t at;
    std::uint32_t part;
    std::uint32_t number;  // kNoClass: a set ends
  };
  std::vector<Border> borders;
  for (std::uint32_t part = 0; part < parts.size(); ++part) {
    for (std::uint32_t number = 0; number < parts[part]->size(); ++number) {
      for (const CodePointRange& range : sets[(*parts[part])[number].first].ranges()) {
        borders.push_back({range.first, part, number});
        borders.push_back({range.last + 1, part, kNoClass});
      }
    }
  }
  std::sort(borders.begin(), borders.end(), [](const Border& a, const Border& b) {
    return a.at != b.at ? a.at < b.at : a.number > b.number;  // ends in front of begins
  });

  std::vector<Piece> pieces;
  std::vector<std::vector<CodePointRange>> ranges;
  std::unordered_map<std::uint64_t, std::size_t> by_signature;
  std::vector<std::uint32_t> now(parts.size(), kNoClass);
  std::uint64_t signature = 0;
  std::size_t active = 0;
  for (std::size_t i = 0; i < borders.size();) {
    const char32_t at = borders[i].at;
    for (; i < borders.size() && borders[i].at == at; ++i) {
      const Border& border = borders[i];
      std::uint32_t& place = now[border.part];
      if (place != kNoClass) signature -= weight(border.part, place), --active;
      place = border.number;
      if (place != kNoClass) signature += weight(border.part, place), ++active;
    }
    if (active == 0) continue;
    if (!spend(parts.size())) return {};
    std::uint64_t key = signature;
    while (by_signature.contains(key) && pieces[by_signature[key]].classes != now) ++key;
    const auto [entry, added] = by_signature.try_emplace(key, pieces.size());
    if (added) {
      pieces.push_back({.classes = now});
      ranges.emplace_back();
    }
    ranges[entry->second].push_back({at, borders[i].at - 1});
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    pieces[i].set = intern(CodePointSet::of(std::move(ranges[i])));
  }
  return pieces;
}

RegexPool::SetId RegexPool::Parts::united(SetId a, SetId b) {
  const std::uint64_t key = static_cast<std::uint64_t>(std::min(a, b)) << 32 | std::max(a, b);
  const auto [entry, added] = unions_known.try_emplace(key, 0);
  if (added) entry->second = intern(sets[a] | sets[b]);
  return entry->second;
}

std::size_t RegexPool::Parts::HashNumbers::operator()(
    const std::vector<std::uint32_t>& numbers) const {
  std::uint64_t sum = numbers.size();
  for (const std::uint32_t number : numbers)
    sum = weight(number, static_cast<std::uint32_t>(sum)) + (sum >> 32);
  return static_cast<std::size_t>(sum);
}

// ---- The pool

RegexPool::RegexPool(std::size_t terms_max) : parts_(std::make_unique<Parts>(terms_max)) {}
RegexPool::~RegexPool() = default;

RegexTerm RegexPool::nothing() const { return Parts::kNothing; }
RegexTerm RegexPool::empty() const { return Parts::kEmptyWord; }
RegexTerm RegexPool::any() const { return Parts::kAny; }
RegexTerm RegexPool::one_of(const CodePointSet& set) { return parts_->one_of(set); }

RegexTerm RegexPool::text(std::u32string_view word) {
  RegexTerm term = Parts::kEmptyWord;
  for (auto letter = word.rbegin(); letter != word.rend() && !exhausted(); ++letter) {
    term = parts_->concat(parts_->one_of({{*letter, *letter}}), term);
  }
  return term;
}

RegexTerm RegexPool::concat(RegexTerm first, RegexTerm second) {
  return parts_->concat(first, second);
}

RegexTerm RegexPool::either(RegexTerm first, RegexTerm second) {
  return either_of({first, second});
}
RegexTerm RegexPool::both(RegexTerm first, RegexTerm second) { return both_of({first, second}); }
RegexTerm RegexPool::either_of(std::vector<RegexTerm> terms) { return parts_->either(terms); }
RegexTerm RegexPool::both_of(std::vector<RegexTerm> terms) { return parts_->both(terms); }

RegexTerm RegexPool::concat_of(const std::vector<RegexTerm>& terms) {
  RegexTerm whole = Parts::kEmptyWord;
  for (auto part = terms.rbegin(); part != terms.rend(); ++part) {
    whole = parts_->concat(*part, whole);
  }
  return whole;
}

RegexTerm RegexPool::complement(RegexTerm term) { return parts_->complement(term); }
RegexTerm RegexPool::until(RegexTerm first, RegexTerm last) { return parts_->until(first, last); }
RegexTerm RegexPool::repeat(RegexTerm term, std::uint32_t min, std::uint32_t max) {
  return parts_->repeat(term, min, max);
}

bool RegexPool::nullable(RegexTerm term) const { return parts_->nodes[term].nullable; }

const std::vector<std::pair<RegexPool::SetId, RegexTerm>>& RegexPool::live_derivatives(
    RegexTerm term) {
  return parts_->classes(term);
}

const CodePointSet& RegexPool::set(SetId id) const { return parts_->sets[id]; }

RegexPool::Counted RegexPool::split_length(RegexTerm term) {
  Counted counted{.rest = term};
  std::vector<RegexTerm> list{term};
  if (parts_->is(term, Parts::Kind::kBoth)) {
    const auto children = parts_->list_of(term);
    list.assign(children.begin(), children.end());
  }
  for (RegexTerm& part : list) {
    const Parts::Node node = parts_->nodes[part];
    if (node.kind != Parts::Kind::kRepeat || !parts_->is(node.a, Parts::Kind::kSet)) continue;
    if (node.b <= 1 && node.c == kNoBound) continue;
    counted.min = std::max(counted.min, node.b);
    counted.max = std::min(counted.max, node.c);
    part = parts_->repeat(node.a, 0, kNoBound);
  }
  if (counted.min > counted.max) return {.rest = Parts::kNothing};
  counted.rest = parts_->both(list);
  return counted;
}

bool RegexPool::exhausted() const { return parts_->exhausted; }

std::size_t RegexPool::memory_bytes() const {
  return parts_->nodes.size() * (sizeof(Parts::Node) + sizeof(void*) + 2 * sizeof(std::uint32_t)) +
         parts_->children.size() * sizeof(RegexTerm) +
         parts_->class_entries * sizeof(std::pair<SetId, RegexTerm>) +
         parts_->set_ranges * sizeof(CodePointRange);
}

}  // namespace zerohop

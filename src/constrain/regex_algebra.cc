// Terms and their simplification.
//
// Why simplify: the states of an automaton are terms, and a derivative of a term must be found
// again among the earlier ones, or there would be infinitely many. Brzozowski showed that
// associativity, commutativity and idempotence of the union are enough for finitely many; the other
// rules keep them few. Two rules matter beyond the usual:
//   R{a,b}·t | R{c,d}·t = R{min,max}·t   when [a,b] and [c,d] overlap or touch,
// which keeps the states of counters in searches linear, and sets of single characters are united
// at once, so a class of characters is one term however it was written.
//
// Terms are numbers into one array; equal terms are one (hash-consing), so equality is comparing
// numbers, and memory is freed with the pool.
#include "constrain/regex_algebra.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "constrain/regex_pool_parts.h"

namespace zerohop {

namespace {

// One multiplication: with mix64() compiling patterns takes some 3 % longer.
constexpr std::uint64_t mix(std::uint64_t sum, std::uint64_t value) {
  sum = (sum ^ value) * 0x9fb21c651e98df25;
  return sum ^ (sum >> 32);
}

/// Open addressing: `find(id)` says whether the entry is the one wanted.
template <class Find>
std::size_t place_of(const std::vector<std::uint32_t>& buckets, std::uint64_t hash,
                     const Find& find) {
  std::size_t place = hash & (buckets.size() - 1);
  while (buckets[place] != 0 && !find(buckets[place] - 1)) {
    place = (place + 1) & (buckets.size() - 1);
  }
  return place;
}

constexpr auto kNone = [](std::uint32_t) { return false; };

/// Room for one more entry; `hash_of(id)` for the old ones.
template <class Hash>
void make_room(std::vector<std::uint32_t>& buckets, std::size_t entries, const Hash& hash_of) {
  if (2 * entries < buckets.size()) return;
  std::vector<std::uint32_t> larger(2 * buckets.size());
  for (std::uint32_t id = 0; id < entries; ++id) {
    larger[place_of(larger, hash_of(id), kNone)] = id + 1;
  }
  buckets = std::move(larger);
}

std::uint64_t times(std::uint32_t count, std::uint32_t factor) {
  const bool endless = count == RegexPool::kNoBound || factor == RegexPool::kNoBound;
  return endless ? UINT64_MAX : static_cast<std::uint64_t>(count) * factor;
}

}  // namespace

RegexPool::Parts::Parts(std::size_t terms_limit)
    : buckets(64), set_buckets(64), terms_max(terms_limit), work_left(100 * terms_limit) {
  intern({.kind = Kind::kSet, .depth = 1, .a = intern(CodePointSet())}, {});
  intern({.kind = Kind::kEmpty, .nullable = true, .depth = 1}, {});
  intern({.kind = Kind::kSet, .depth = 1, .a = intern(CodePointSet::all())}, {});
  intern({.kind = Kind::kRepeat, .nullable = true, .depth = 2, .a = kCharacter, .c = kNoBound}, {});
}

bool RegexPool::Parts::spend(std::size_t amount) {
  if (work_left < amount) exhausted = true;
  if (exhausted) return false;
  work_left -= amount;
  return true;
}

RegexPool::SetId RegexPool::Parts::intern(const CodePointSet& set) {
  make_room(set_buckets, sets.size(), [this](std::uint32_t id) { return sets[id].hash(); });
  const std::size_t place =
      place_of(set_buckets, set.hash(), [&](std::uint32_t id) { return sets[id] == set; });
  if (set_buckets[place] == 0) {
    sets.push_back(set);
    set_ranges += set.ranges().size();
    set_buckets[place] = static_cast<std::uint32_t>(sets.size());
  }
  return set_buckets[place] - 1;
}

std::uint64_t RegexPool::Parts::hash_of(const Node& node, std::span<const RegexTerm> list) {
  std::uint64_t sum = mix(static_cast<std::uint64_t>(node.kind) + 1, node.c);
  if (!has_list(node.kind)) return mix(mix(sum, node.a), node.b);
  for (const RegexTerm term : list) sum = mix(sum, term + 1);
  return sum;
}

RegexTerm RegexPool::Parts::intern(const Node& node, std::span<const RegexTerm> list) {
  make_room(buckets, nodes.size(),
            [this](std::uint32_t id) { return hash_of(nodes[id], list_of(id)); });
  const std::size_t place = place_of(buckets, hash_of(node, list), [&](std::uint32_t id) {
    const Node& known = nodes[id];
    if (known.kind != node.kind) return false;
    if (has_list(node.kind)) return std::ranges::equal(list_of(id), list);
    return known.a == node.a && known.b == node.b && known.c == node.c;
  });
  if (buckets[place] != 0) return buckets[place] - 1;
  if (nodes.size() >= terms_max || node.depth > kDepthMax) exhausted = true;
  if (exhausted && nodes.size() > kAny) return kNothing;
  nodes.push_back(node);
  if (has_list(node.kind)) {
    nodes.back().a = static_cast<std::uint32_t>(children.size());
    nodes.back().b = static_cast<std::uint32_t>(list.size());
    children.insert(children.end(), list.begin(), list.end());
  }
  derived.emplace_back();
  buckets[place] = static_cast<std::uint32_t>(nodes.size());
  return static_cast<RegexTerm>(nodes.size() - 1);
}

RegexTerm RegexPool::Parts::one_of(const CodePointSet& set) {
  return intern({.kind = Kind::kSet, .depth = 1, .a = intern(set)}, {});
}

RegexTerm RegexPool::Parts::concat(RegexTerm first, RegexTerm second) {
  if (!is(first, Kind::kConcat)) return concat_one(first, second);
  std::vector<RegexTerm> spine;
  for (; is(first, Kind::kConcat); first = nodes[first].b) spine.push_back(nodes[first].a);
  spine.push_back(first);
  if (!spend(spine.size())) return kNothing;
  for (; !spine.empty(); spine.pop_back()) second = concat_one(spine.back(), second);
  return second;
}

// `first` is no concatenation.
RegexTerm RegexPool::Parts::concat_one(RegexTerm first, RegexTerm second) {
  if (first == kNothing || second == kNothing) return kNothing;
  if (first == kEmptyWord) return second;
  if (second == kEmptyWord) return first;
  if (is(first, Kind::kRepeat) && nodes[first].c == kNoBound) {
    // R{a,}·R* = R{a,}
    const RegexTerm next = is(second, Kind::kConcat) ? nodes[second].a : second;
    if (is(next, Kind::kRepeat) && nodes[next].a == nodes[first].a && nodes[next].b == 0 &&
        nodes[next].c == kNoBound) {
      return next == second ? first : concat_one(first, nodes[second].b);
    }
  }
  const Node& head = nodes[first];
  const Node& tail = nodes[second];
  // A chain of concatenations is walked by a loop, so its length is no depth.
  const std::size_t tail_depth = is(second, Kind::kConcat) || !head.nullable ? 0 : tail.depth;
  const std::size_t depth = std::max<std::size_t>(head.depth + 1, tail_depth + 1);
  const bool chain_deeper = is(second, Kind::kConcat) && head.nullable;
  return intern({.kind = Kind::kConcat,
                 .nullable = head.nullable && tail.nullable,
                 .depth = static_cast<std::uint16_t>(
                     std::max<std::size_t>(depth, chain_deeper ? tail.depth : 0)),
                 .a = first,
                 .b = second},
                {});
}

void RegexPool::Parts::flatten(std::vector<RegexTerm>& list, Kind kind) const {
  if (std::ranges::any_of(list, [&](RegexTerm term) { return is(term, kind); })) {
    std::vector<RegexTerm> flat;
    for (const RegexTerm term : list) {
      if (!is(term, kind)) {
        flat.push_back(term);
        continue;
      }
      const auto inner = list_of(term);
      flat.insert(flat.end(), inner.begin(), inner.end());
    }
    list = std::move(flat);
  }
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

// One set out of all sets of the list.
void RegexPool::Parts::merge_sets(std::vector<RegexTerm>& list, Kind kind) {
  CodePointSet merged;
  std::size_t count = 0;
  std::erase_if(list, [&](RegexTerm term) {
    if (!is(term, Kind::kSet)) return false;
    const CodePointSet& set = sets[nodes[term].a];
    if (count++ == 0) {
      merged = set;
    } else {
      merged = kind == Kind::kEither ? merged | set : merged & set;
    }
    return true;
  });
  if (count == 0) return;
  const RegexTerm term = one_of(merged);
  list.insert(std::lower_bound(list.begin(), list.end(), term), term);
}

// R{a,b}·t | R{c,d}·t
void RegexPool::Parts::merge_repeats(std::vector<RegexTerm>& list) {
  struct Counter {
    RegexTerm body;
    RegexTerm tail;
    std::uint32_t min;
    std::uint32_t max;
    bool operator<(const Counter& other) const {
      return std::tie(body, tail, min, max) <
             std::tie(other.body, other.tail, other.min, other.max);
    }
  };
  std::vector<Counter> counters;
  for (const RegexTerm term : list) {
    const bool concat = is(term, Kind::kConcat);
    const RegexTerm head = concat ? nodes[term].a : term;
    if (!is(head, Kind::kRepeat)) continue;
    const Node& node = nodes[head];
    counters.push_back({node.a, concat ? nodes[term].b : kEmptyWord, node.b, node.c});
  }
  if (counters.size() < 2) return;
  std::sort(counters.begin(), counters.end());
  std::vector<Counter> merged;
  for (const Counter& counter : counters) {
    if (!merged.empty()) {
      Counter& last = merged.back();
      if (last.body == counter.body && last.tail == counter.tail &&
          (last.max == kNoBound || counter.min <= last.max + 1)) {
        last.max = std::max(last.max, counter.max);
        continue;
      }
    }
    merged.push_back(counter);
  }
  if (merged.size() == counters.size()) return;
  std::erase_if(list, [&](RegexTerm term) {
    return is(is(term, Kind::kConcat) ? nodes[term].a : term, Kind::kRepeat);
  });
  for (const Counter& counter : merged) {
    list.push_back(concat(repeat(counter.body, counter.min, counter.max), counter.tail));
  }
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

// x | (x & y) = x, and the same with the two exchanged: terms of kind `inner` that hold another
// term of the list say nothing more.
void RegexPool::Parts::drop_absorbed(std::vector<RegexTerm>& list, Kind inner) const {
  const auto absorbed = [&](RegexTerm term) {
    return is(term, inner) && std::ranges::any_of(list_of(term), [&](RegexTerm child) {
             return std::binary_search(list.begin(), list.end(), child);
           });
  };
  if (!std::ranges::any_of(list, absorbed)) return;
  std::vector<RegexTerm> rest;
  std::ranges::copy_if(list, std::back_inserter(rest),
                       [&](RegexTerm term) { return !absorbed(term); });
  list = std::move(rest);
}

bool RegexPool::Parts::has_opposites(const std::vector<RegexTerm>& list) const {
  return std::ranges::any_of(list, [&](RegexTerm term) {
    return is(term, Kind::kNot) && std::binary_search(list.begin(), list.end(), nodes[term].a);
  });
}

RegexTerm RegexPool::Parts::either(std::vector<RegexTerm>& list) {
  if (!spend(list.size() + 1)) return kNothing;
  flatten(list, Kind::kEither);
  if (!spend(list.size())) return kNothing;
  if (!list.empty() && list.front() == kNothing) list.erase(list.begin());
  if (std::binary_search(list.begin(), list.end(), kAny)) return kAny;
  merge_sets(list, Kind::kEither);
  merge_repeats(list);
  if (std::binary_search(list.begin(), list.end(), kAny)) return kAny;
  drop_absorbed(list, Kind::kBoth);
  const auto nullable = [&](RegexTerm term) { return nodes[term].nullable; };
  if (const auto word = std::lower_bound(list.begin(), list.end(), kEmptyWord);
      word != list.end() && *word == kEmptyWord && std::ranges::count_if(list, nullable) > 1) {
    list.erase(word);
  }
  if (has_opposites(list)) return kAny;
  if (list.empty()) return kNothing;
  if (list.size() == 1) return list.front();
  return intern({.kind = Kind::kEither,
                 .nullable = std::ranges::any_of(list, nullable),
                 .depth = depth_of(list)},
                list);
}

RegexTerm RegexPool::Parts::both(std::vector<RegexTerm>& list) {
  if (!spend(list.size() + 1)) return kNothing;
  flatten(list, Kind::kBoth);
  if (!spend(list.size())) return kNothing;
  if (!list.empty() && list.front() == kNothing) return kNothing;
  std::erase(list, kAny);
  merge_sets(list, Kind::kBoth);
  drop_absorbed(list, Kind::kEither);
  if (list.empty()) return kAny;
  if (list.front() == kNothing || has_opposites(list)) return kNothing;
  const bool nullable =
      std::ranges::all_of(list, [&](RegexTerm term) { return nodes[term].nullable; });
  if (std::binary_search(list.begin(), list.end(), kEmptyWord)) {
    return nullable ? kEmptyWord : kNothing;
  }
  if (list.size() == 1) return list.front();
  return intern({.kind = Kind::kBoth, .nullable = nullable, .depth = depth_of(list)}, list);
}

std::uint16_t RegexPool::Parts::depth_of(const std::vector<RegexTerm>& list) const {
  std::uint16_t depth = 0;
  for (const RegexTerm term : list) depth = std::max(depth, nodes[term].depth);
  return static_cast<std::uint16_t>(depth + 1);
}

RegexTerm RegexPool::Parts::complement(RegexTerm term) {
  if (term == kNothing) return kAny;
  if (term == kAny) return kNothing;
  const Node& node = nodes[term];
  if (node.kind == Kind::kNot) return node.a;
  return intern({.kind = Kind::kNot,
                 .nullable = !node.nullable,
                 .depth = static_cast<std::uint16_t>(node.depth + 1),
                 .a = term},
                {});
}

RegexTerm RegexPool::Parts::repeat(RegexTerm term, std::uint32_t min, std::uint32_t max) {
  if (min > max) return kNothing;
  if (max == 0) return kEmptyWord;
  if (term == kNothing) return min == 0 ? kEmptyWord : kNothing;
  if (term == kEmptyWord || term == kAny) return term;
  if (min == 1 && max == 1) return term;
  const Node node = nodes[term];
  if (node.nullable) min = 0;
  if (node.kind == Kind::kRepeat && node.b <= 1) {
    // (R{0,b}){c,d} = R{0,b·d}, (R{1,b}){c,d} = R{c,b·d}: the sums of c to d numbers up to b leave
    // no gap.
    const std::uint64_t most = times(node.c, max);
    if (most == UINT64_MAX || most < kNoBound) {
      const std::uint32_t least = node.b == 0 ? 0 : min;
      return repeat(node.a, least,
                    most == UINT64_MAX ? kNoBound : static_cast<std::uint32_t>(most));
    }
  }
  return intern({.kind = Kind::kRepeat,
                 .nullable = min == 0,
                 .depth = static_cast<std::uint16_t>(node.depth + 1),
                 .a = term,
                 .b = min,
                 .c = max},
                {});
}

RegexTerm RegexPool::Parts::until(RegexTerm first, RegexTerm last) {
  if (first == kNothing || last == kNothing || last == kAny) return last;
  return intern(
      {.kind = Kind::kUntil,
       .nullable = nodes[last].nullable,
       .depth = static_cast<std::uint16_t>(std::max(nodes[first].depth, nodes[last].depth) + 1),
       .a = first,
       .b = last},
      {});
}

}  // namespace zerohop

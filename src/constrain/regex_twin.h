// Regular expressions as trees with the obvious membership test, for tests of terms and automata.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "constrain/regex_algebra.h"

namespace zerohop {

/// Letters are 'a', 'b' and U+10000.
struct RegexTwin {
  enum class Kind : std::uint8_t {
    kNothing,
    kEmpty,
    kAny,
    kSet,
    kConcat,
    kEither,
    kBoth,
    kNot,
    kRepeat
  };
  using Pointer = std::shared_ptr<const RegexTwin>;

  Kind kind = Kind::kNothing;
  CodePointSet set;
  Pointer left;
  Pointer right;
  std::uint32_t min = 0;
  std::uint32_t max = 0;

  bool matches(std::u32string_view word) const {
    switch (kind) {
      case Kind::kNothing: return false;
      case Kind::kEmpty: return word.empty();
      case Kind::kAny: return true;
      case Kind::kSet: return word.size() == 1 && set.contains(word[0]);
      case Kind::kConcat:
        for (std::size_t i = 0; i <= word.size(); ++i) {
          if (left->matches(word.substr(0, i)) && right->matches(word.substr(i))) return true;
        }
        return false;
      case Kind::kEither: return left->matches(word) || right->matches(word);
      case Kind::kBoth: return left->matches(word) && right->matches(word);
      case Kind::kNot: return !left->matches(word);
      case Kind::kRepeat: return matches_times(word, 0);
    }
    return false;
  }

  RegexTerm build(RegexPool& pool) const {
    switch (kind) {
      case Kind::kNothing: return pool.nothing();
      case Kind::kEmpty: return pool.empty();
      case Kind::kAny: return pool.any();
      case Kind::kSet: return pool.one_of(set);
      case Kind::kConcat: {
        const RegexTerm first = left->build(pool);
        return pool.concat(first, right->build(pool));
      }
      case Kind::kEither: {
        const RegexTerm first = left->build(pool);
        return pool.either(first, right->build(pool));
      }
      case Kind::kBoth: {
        const RegexTerm first = left->build(pool);
        return pool.both(first, right->build(pool));
      }
      case Kind::kNot: return pool.complement(left->build(pool));
      case Kind::kRepeat: return pool.repeat(left->build(pool), min, max);
    }
    return pool.nothing();
  }

  static Pointer random(Random& random, unsigned depth) {
    RegexTwin twin;
    const auto pick = [&](std::uint64_t below) { return random.below(below); };
    if (depth == 0) {
      static const CodePointSet kSets[] = {
          {{U'a', U'a'}}, {{U'b', U'b'}},      {{0x10000, 0x10000}},
          {{U'a', U'b'}}, CodePointSet::all(), CodePointSet({{U'a', U'a'}}).complement()};
      const std::uint64_t leaf = pick(16);
      twin.kind = leaf == 0   ? Kind::kNothing
                  : leaf == 1 ? Kind::kEmpty
                  : leaf == 2 ? Kind::kAny
                              : Kind::kSet;
      twin.set = kSets[pick(std::size(kSets))];
      return std::make_shared<const RegexTwin>(std::move(twin));
    }
    static constexpr Kind kKinds[] = {Kind::kConcat, Kind::kConcat, Kind::kConcat,
                                      Kind::kEither, Kind::kEither, Kind::kBoth,
                                      Kind::kNot,    Kind::kRepeat, Kind::kRepeat};
    twin.kind = kKinds[pick(std::size(kKinds))];
    twin.left = RegexTwin::random(random, static_cast<unsigned>(pick(depth)));
    twin.right = RegexTwin::random(random, static_cast<unsigned>(pick(depth)));
    twin.min = static_cast<std::uint32_t>(pick(3));
    twin.max = pick(2) == 0 ? RegexPool::kNoBound : twin.min + static_cast<std::uint32_t>(pick(4));
    return std::make_shared<const RegexTwin>(std::move(twin));
  }

 private:
  bool matches_times(std::u32string_view word, std::uint32_t times) const {
    if (times > max) return false;
    if (word.empty()) return times >= min || left->matches(word);
    // One more that takes something: those that take nothing may come for free.
    for (std::size_t i = 1; i <= word.size(); ++i) {
      if (left->matches(word.substr(0, i)) && matches_rest(word.substr(i), times + 1)) return true;
    }
    return false;
  }
  bool matches_rest(std::u32string_view word, std::uint32_t times) const {
    return times <= max && matches_times(word, times);
  }
};

/// Sets that are disjoint, cover everything, and inside which all derivatives are the same.
inline std::vector<std::pair<CodePointSet, RegexTerm>> derivatives(RegexPool& pool,
                                                                   RegexTerm term) {
  std::vector<std::pair<CodePointSet, RegexTerm>> found;
  CodePointSet rest = CodePointSet::all();
  for (const auto& [id, target] : pool.live_derivatives(term)) {
    found.emplace_back(pool.set(id), target);
    rest = rest & pool.set(id).complement();
  }
  if (!rest.empty()) found.emplace_back(rest, pool.nothing());
  return found;
}

/// All words of at most `length` letters.
inline std::vector<std::u32string> all_words(std::size_t length) {
  std::vector<std::u32string> words{U""};
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].size() == length) break;
    for (const char32_t letter : {U'a', U'b', U'\U00010000'}) words.push_back(words[i] + letter);
  }
  return words;
}

}  // namespace zerohop

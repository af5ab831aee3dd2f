// Regular languages over code points as hash-consed terms, closed under all boolean operations.
//
// Terms are simplified when they are made (associativity, commutativity, idempotence, absorption,
// identity, double complement), so that derivatives meet again and automata stay small. A counted
// repetition is one term whose derivative counts down, it is not unrolled.
//
// One pool per compilation; terms of two pools do not mix. Not thread-safe. A pool has a budget of
// terms and of work; when it is used up, exhausted() is true and stays so, and what operations give
// then is some term without meaning: callers look once, at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "constrain/code_point_set.h"

namespace zerohop {

using RegexTerm = std::uint32_t;

class RegexPool {
 public:
  /// As the upper bound of a repetition: there is none.
  static constexpr std::uint32_t kNoBound = UINT32_MAX;

  explicit RegexPool(std::size_t terms_max = 200'000);
  ~RegexPool();
  RegexPool(const RegexPool&) = delete;
  RegexPool& operator=(const RegexPool&) = delete;

  RegexTerm nothing() const;  ///< the empty language
  RegexTerm empty() const;    ///< the empty word alone
  RegexTerm any() const;      ///< all words (of Unicode scalar values)
  RegexTerm one_of(const CodePointSet& set);
  RegexTerm text(std::u32string_view word);
  RegexTerm concat(RegexTerm first, RegexTerm second);
  RegexTerm either(RegexTerm first, RegexTerm second);
  RegexTerm both(RegexTerm first, RegexTerm second);
  /// Of many at once, far cheaper than one after the other. Of none: nothing(), and any().
  RegexTerm either_of(std::vector<RegexTerm> terms);
  RegexTerm both_of(std::vector<RegexTerm> terms);
  /// One behind the other; of none: empty().
  RegexTerm concat_of(const std::vector<RegexTerm>& terms);
  RegexTerm complement(RegexTerm term);  ///< against all words
  /// Words that are in `last` behind some first characters, while the rests in front of that, each
  /// counted from its character to the end of the word, are all in `first` (the until of temporal
  /// logic). So until(¬(x·any) & c·any, y) = ((?!x)c)*y.
  RegexTerm until(RegexTerm first, RegexTerm last);
  /// `min` to `max` times; `max` may be kNoBound.
  RegexTerm repeat(RegexTerm term, std::uint32_t min, std::uint32_t max);

  /// The empty word is in it.
  bool nullable(RegexTerm term) const;

  /// Disjoint sets inside which all derivatives are the same, with these; outside of all sets the
  /// derivative is nothing(). The reference holds as long as the pool.
  using SetId = std::uint32_t;
  const std::vector<std::pair<SetId, RegexTerm>>& live_derivatives(RegexTerm term);
  const CodePointSet& set(SetId id) const;

  /// `term` = `rest` restricted to words of `min` to `max` characters: counted repetitions of
  /// single characters are taken out of an intersection, so that a bound of 100,000 makes no
  /// states. `max` may be kNoBound.
  struct Counted {
    RegexTerm rest = 0;
    std::uint32_t min = 0;
    std::uint32_t max = kNoBound;
  };
  Counted split_length(RegexTerm term);

  bool exhausted() const;
  std::size_t memory_bytes() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace zerohop

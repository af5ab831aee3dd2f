// A deterministic automaton over code points: the language of a pattern, of a format, of a set of
// names, and of all that boolean operations make of these.
//
// It knows nothing about how a text is written (UTF-8, JSON escapes): content_coding.h feeds it.
// States are made from regex_algebra.h's terms by derivatives, all of them at construction and
// within the budget given there, so nothing fails at run time; those that cannot reach acceptance
// are left out (kNoState), which is exact also for intersections and complements. The pool is not
// needed any more afterwards.
//
// Immutable after construction; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "constrain/code_point_set.h"
#include "constrain/regex_algebra.h"
#include "core/error.h"

namespace zerohop {

class ContentAutomaton {
 public:
  static constexpr std::uint32_t kNoState = UINT32_MAX;
  static constexpr std::uint32_t kUnbounded = RegexPool::kNoBound;

  /// A language whose shortest word is longer than this many characters is refused: nobody could
  /// ever be given a text of it, and shortest_end() would be that long.
  static constexpr std::uint32_t kShortestMax = 1 << 20;

  struct Budget {
    std::size_t states_max = 20'000;
  };

  /// How many characters a word may have, both ends included. Lengths are counted by the caller, so
  /// a bound of 100,000 makes no states.
  struct Length {
    std::uint32_t min = 0;
    std::uint32_t max = kUnbounded;
  };

  /// The automaton of `term`, restricted to words of `length`. kInvalidRequest-like error (the
  /// reason only; the caller knows the keyword) when the budget does not suffice.
  static Result<std::shared_ptr<ContentAutomaton>> make(RegexPool& pool, RegexTerm term,
                                                        const Length& length, const Budget& budget);

  /// Nothing is in it.
  bool empty() const;
  std::uint32_t start() const;  ///< not when empty()

  /// The state behind `code_point`, without a look at lengths; kNoState when no word goes on so.
  std::uint32_t step(std::uint32_t state, char32_t code_point) const;

  /// Whether some code point of [first, last] leads on when `count` characters have been read.
  bool can_step(std::uint32_t state, std::uint32_t count, char32_t first, char32_t last) const;

  /// Whether what was read (`count` characters) is a word.
  bool accepts(std::uint32_t state, std::uint32_t count) const;

  /// Whether a word can be reached from here with `count` characters read: exact, lengths included.
  bool live(std::uint32_t state, std::uint32_t count) const;

  /// Characters that may still come when `count` were read; kUnbounded: no bound.
  std::uint32_t characters_max(std::uint32_t count) const;

  /// Characters that must still come, as far as that says anything about which may come next: 0
  /// also where every state to come has words that are long enough. Where two places have the same
  /// state, characters_min() and characters_max(), the same may follow.
  std::uint32_t characters_min(std::uint32_t state, std::uint32_t count) const;

  /// Whatever follows `state`, a word can be made of it: there is no upper bound, and each
  /// character leads to such a state again. (False also where finding out would take too long.)
  bool open(std::uint32_t state) const;

  /// From every state there are infinitely many words.
  bool endless() const;

  /// Words can be finished with characters other than U+007F and those of the planes 4 to 11,
  /// however one chooses among the shortest ends, also when kPlainChoices of them are taken.
  bool plain() const;
  static constexpr std::size_t kPlainChoices = 64;

  /// The first character of the shortest rest among those whose first one is in `wanted`; nothing:
  /// there is none.
  std::optional<char32_t> shortest_step(std::uint32_t state, std::uint32_t count,
                                        const CodePointSet& wanted) const;

  /// The shortest rest of a word (code points; ties: the same always, preferring ASCII letters and
  /// digits, so that it is readable); live states only.
  std::u32string shortest_end(std::uint32_t state, std::uint32_t count) const;

  /// Number of characters of shortest_end(), cheap.
  std::uint32_t shortest_length(std::uint32_t state, std::uint32_t count) const;

  /// Characters of the shortest rest of a word, lengths left aside.
  std::uint32_t nearest_end(std::uint32_t state) const;
  std::uint32_t nearest_end_max() const;  ///< the most that any state has

  /// Whether all characters from U+0080 on lead on, lengths left aside. `targets`: then to which
  /// states, each once; else none.
  bool beyond_ascii(std::uint32_t state, std::vector<std::uint32_t>& targets) const;

  /// Number of words from here, but at most `limit`.
  std::size_t count_words(std::uint32_t state, std::uint32_t count, std::size_t limit) const;

  /// All words from here when there are at most `limit` of them.
  std::optional<std::vector<std::u32string>> words(std::uint32_t state, std::uint32_t count,
                                                   std::size_t limit) const;

  /// The number of the state that `word` leads to with lengths respected; kNoState: no word of the
  /// language begins like that.
  std::uint32_t walk(std::u32string_view word) const;
  /// `word` is in the language.
  bool contains(std::u32string_view word) const;

  std::size_t states() const;

  /// A hash of the automaton and its bounds: equal for equal terms, of whatever pool, for masks
  /// shared between constraints.
  std::uint64_t identity() const;

  std::size_t memory_bytes() const;

 private:
  struct Parts;
  explicit ContentAutomaton(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;

 public:
  ~ContentAutomaton();
};

}  // namespace zerohop

// Inside of regex_algebra.h: how terms are kept. Not for other users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "constrain/regex_algebra.h"

namespace zerohop {

struct RegexPool::Parts {
  enum class Kind : std::uint8_t { kEmpty, kSet, kConcat, kEither, kBoth, kNot, kRepeat, kUntil };

  /// a, b, c: kSet: set; kConcat: first, second; kEither, kBoth: place and number of children (all
  /// in `children`, sorted); kNot: term; kRepeat: term, min, max; kUntil: first, last.
  struct Node {
    Kind kind = Kind::kEmpty;
    bool nullable = false;
    std::uint16_t depth = 0;  // of the recursion in derivatives
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t c = 0;
  };

  // Without the empty set; sorted by no rule.
  using Classes = std::vector<std::pair<SetId, RegexTerm>>;

  /// How the classes of several terms cut each other.
  struct Piece {
    SetId set = 0;
    std::vector<std::uint32_t> classes;  // of each term: the number of its class, or kNoClass
  };
  static constexpr std::uint32_t kNoClass = UINT32_MAX;
  struct HashNumbers {
    std::size_t operator()(const std::vector<std::uint32_t>& numbers) const;
  };

  // Derivatives recurse as deep as terms are nested; a deeper term exhausts the pool.
  static constexpr std::uint16_t kDepthMax = 1'000;
  static constexpr RegexTerm kNothing = 0;  // one_of({}): a set without members
  static constexpr RegexTerm kEmptyWord = 1;
  static constexpr RegexTerm kCharacter = 2;
  static constexpr RegexTerm kAny = 3;

  explicit Parts(std::size_t terms_limit);

  SetId intern(const CodePointSet& set);
  RegexTerm intern(const Node& node, std::span<const RegexTerm> list);
  RegexTerm one_of(const CodePointSet& set);
  RegexTerm concat(RegexTerm first, RegexTerm second);
  RegexTerm either(std::vector<RegexTerm>& list);
  RegexTerm both(std::vector<RegexTerm>& list);
  RegexTerm complement(RegexTerm term);
  RegexTerm repeat(RegexTerm term, std::uint32_t min, std::uint32_t max);
  RegexTerm until(RegexTerm first, RegexTerm last);
  const Classes& classes(RegexTerm term);

  std::span<const RegexTerm> list_of(RegexTerm term) const {
    if (!has_list(nodes[term].kind)) return {};
    return std::span(children).subspan(nodes[term].a, nodes[term].b);
  }
  bool is(RegexTerm term, Kind kind) const { return nodes[term].kind == kind; }
  static constexpr bool has_list(Kind kind) { return kind == Kind::kEither || kind == Kind::kBoth; }
  /// Uses up `amount` of the budget of work; false when none is left.
  bool spend(std::size_t amount);

  std::vector<Node> nodes;
  std::vector<RegexTerm> children;
  std::vector<std::uint32_t> buckets;  // of nodes; a power of two; 0: free, else term + 1
  std::vector<CodePointSet> sets;
  std::vector<std::uint32_t> set_buckets;               // likewise
  std::vector<std::unique_ptr<const Classes>> derived;  // stays where it is
  // Of lists of classes' sets: counting down changes terms, not sets, so the same pieces come
  // again.
  std::unordered_map<std::vector<std::uint32_t>, std::vector<Piece>, HashNumbers> pieces_known;
  std::unordered_map<std::uint64_t, SetId> unions_known;  // of two sets
  std::size_t terms_max;
  std::size_t work_left;
  bool exhausted = false;
  std::size_t class_entries = 0;  // of `derived`
  std::size_t set_ranges = 0;     // of `sets`

 private:
  static std::uint64_t hash_of(const Node& node, std::span<const RegexTerm> list);
  std::uint16_t depth_of(const std::vector<RegexTerm>& list) const;
  RegexTerm concat_one(RegexTerm first, RegexTerm second);
  void flatten(std::vector<RegexTerm>& list, Kind kind) const;
  void merge_sets(std::vector<RegexTerm>& list, Kind kind);
  void merge_repeats(std::vector<RegexTerm>& list);
  void drop_absorbed(std::vector<RegexTerm>& list, Kind inner) const;
  bool has_opposites(const std::vector<RegexTerm>& list) const;
  Classes derive(RegexTerm term);
  Classes derive_concat(RegexTerm term);
  Classes derive_list(RegexTerm term);
  Classes derive_until(RegexTerm term);
  /// `compose` makes a term of what each part leads to (kNothing: nowhere).
  template <class Compose>
  Classes combine(std::span<const Classes* const> parts, const Compose& compose);
  const std::vector<Piece>& pieces_of(std::span<const Classes* const> parts);
  std::vector<Piece> cut(std::span<const Classes* const> parts);
  SetId united(SetId a, SetId b);
  Classes behind(const Classes& heads, RegexTerm tail);
  Classes negated(const Classes& positive);
  void add_class(Classes& target, SetId set, RegexTerm term);
};

}  // namespace zerohop

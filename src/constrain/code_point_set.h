// A set of Unicode scalar values (U+0000 to U+10FFFF without the surrogates), as sorted, disjoint
// intervals that do not touch.
//
// A value; copies share their intervals, so they cost a pointer. Immutable; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

namespace zerohop {

/// Both ends included.
struct CodePointRange {
  char32_t first = 0;
  char32_t last = 0;
  friend bool operator==(const CodePointRange&, const CodePointRange&) = default;
};

inline constexpr char32_t kCodePointMax = 0x10ffff;
inline constexpr char32_t kSurrogateFirst = 0xd800;
inline constexpr char32_t kSurrogateLast = 0xdfff;

inline constexpr bool is_scalar_value(char32_t code_point) {
  return code_point <= kCodePointMax &&
         (code_point < kSurrogateFirst || code_point > kSurrogateLast);
}

inline constexpr CodePointRange kScalarValues[] = {{0, kSurrogateFirst - 1},
                                                   {kSurrogateLast + 1, kCodePointMax}};

class CodePointSet {
 public:
  CodePointSet() = default;  ///< empty
  /// In any order, overlaps welcome; surrogates and what is above U+10FFFF are left out.
  CodePointSet(std::initializer_list<CodePointRange> ranges);
  static CodePointSet of(std::vector<CodePointRange> ranges);
  static CodePointSet all();

  bool empty() const { return ranges_ == nullptr; }
  bool contains(char32_t code_point) const;
  std::size_t size() const;  ///< number of members
  std::span<const CodePointRange> ranges() const;

  /// The member that reads best (readability_rank); not of an empty set.
  char32_t pick() const;

  friend CodePointSet operator|(const CodePointSet& a, const CodePointSet& b);
  friend CodePointSet operator&(const CodePointSet& a, const CodePointSet& b);
  CodePointSet complement() const;

  friend bool operator==(const CodePointSet& a, const CodePointSet& b);
  std::size_t hash() const;

 private:
  std::shared_ptr<const std::vector<CodePointRange>> ranges_;  // nullptr: empty
};

/// The order in which members are picked, smallest first: ASCII letters and digits, a blank, other
/// ASCII that needs no escape in JSON, that which needs one, characters from U+00A0, controls with
/// a short escape in JSON, other controls. A total order, so that whoever picks from a part of a
/// set picks the same.
std::uint32_t readability_rank(char32_t code_point);

}  // namespace zerohop

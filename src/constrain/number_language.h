// The texts of the numbers that satisfy numeric keywords, as a finite automaton over bytes: exact
// decimal arithmetic, never a double.
//
// Spellings. A plain RFC 8259 number is allowed whenever its value is. A rule that says nothing
// allows any exponent as well. All other rules allow, beside plain ones, only normalised scientific
// spellings, because 0.000…1e+9 cannot be compared by finitely many states:
//
//   [1-9](.digits)?[eE][+-]?digit{1,3}
//
// and where divisibility counts (an integer, a fraction, multipleOf) the digits behind the point
// are either a single 0 or at most scientific_digits_max() of them, the last one not 0. An integer
// may be written with a fraction of zeros (1.0) or an exponent (1e3), as the keyword means values.
//
// Immutable after construction; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "constrain/schema_document.h"
#include "core/error.h"

namespace zerohop {

/// A conjunction. What cannot be written as one (negations) is split into several by the compiler.
struct NumberRule {
  struct Bound {
    Decimal value;
    bool exclusive = false;
  };
  std::optional<Bound> min;
  std::optional<Bound> max;
  enum class Kind : std::uint8_t { kAny, kInteger, kFraction };  ///< kFraction: not an integer
  Kind kind = Kind::kAny;
  /// Written without a fraction and an exponent, as draft 4 means its integers; kInteger only.
  bool digits_alone = false;
  std::vector<Decimal> multiple_of;      ///< > 0, all of them
  std::vector<Decimal> not_multiple_of;  ///< > 0, none of them
  std::vector<Decimal> except;           ///< values that are not allowed (of `not: {const: …}`)
};

/// Whether `value` satisfies `rule`.
bool satisfies(const Decimal& value, const NumberRule& rule);

/// Digits behind the point that scientific spellings of the rule may have: six, as printf's %e
/// writes; none where divisors are large, as each digit costs states; no bound without divisors.
std::size_t scientific_digits_max(const NumberRule& rule);

class NumberLanguage {
 public:
  static constexpr std::uint32_t kNoState = UINT32_MAX;

  /// The error says what makes it too large; empty() when nothing satisfies the rule. Small
  /// languages are kept, so usual rules cost a look-up (at most 0.1 µs) from the second time on.
  static Result<std::shared_ptr<const NumberLanguage>> make(const NumberRule& rule,
                                                            std::size_t states_max = 200'000);
  bool empty() const { return accepting_.empty(); }
  std::uint32_t start() const { return 0; }
  /// kNoState when no number of the language goes on so.
  std::uint32_t step(std::uint32_t state, unsigned char byte) const;
  bool accepts(std::uint32_t state) const { return accepting_[state]; }
  /// The shortest rest of a number; of equally short ones the smallest bytes.
  std::string shortest_end(std::uint32_t state) const;
  std::size_t shortest_end_bytes(std::uint32_t state) const { return distance_[state]; }
  std::size_t states() const { return accepting_.size(); }
  std::size_t memory_bytes() const;

 private:
  void trim();

  // Bytes that numbers are made of: digits, '-', '+', '.', 'e', 'E'.
  static constexpr std::size_t kSymbols = 15;
  std::vector<std::uint32_t> next_;  // state × kSymbols
  std::vector<bool> accepting_;
  std::vector<std::uint32_t> distance_;  // bytes to acceptance
};

}  // namespace zerohop

// A NumberRule taken apart for the automaton: what is asked of the magnitude, for each sign.
//
// Plain values; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "constrain/number_language.h"

namespace zerohop {

/// A value that magnitudes are compared with: 0.digits × 10^place, and which outcomes are allowed.
struct NumberMark {
  static constexpr std::uint8_t kEqual = 1, kLess = 2, kGreater = 4;
  std::string digits;
  std::int64_t place = 0;
  std::uint8_t allowed = kEqual | kLess | kGreater;

  friend bool operator==(const NumberMark&, const NumberMark&) = default;
};

/// Being a multiple of divisor × 10^exponent, or not being one. The divisor is no multiple of 10.
struct NumberModulus {
  std::uint32_t divisor = 1;
  std::int64_t exponent = 0;
  bool wanted = true;
};

/// The numbers of one sign.
struct MagnitudeRule {
  bool zero = true;               ///< 0 is allowed
  bool others = true;             ///< others may be
  std::vector<NumberMark> marks;  ///< of different values, none of them 0

  friend bool operator==(const MagnitudeRule&, const MagnitudeRule&) = default;
};

enum class NumberSign : std::uint8_t { kPlus, kMinus };
MagnitudeRule magnitude_rule(const NumberRule& rule, NumberSign sign);

/// All multiples that are wanted as one, then those that are not. The error says which divisor is
/// too large.
Result<std::vector<NumberModulus>> moduli(const NumberRule& rule);

/// Whether the rule says nothing at all.
bool is_free(const NumberRule& rule);

/// A text that equal rules share, and no others.
std::string key_of(const NumberRule& rule);

}  // namespace zerohop

// The states of the numbers of one sign, explored digit by digit.
//
// Problem: texts are read from the front, but values compare by the place of their first digit, and
// divisibility depends on all digits. Method: a state remembers only what still matters.
//
//   place     how many digits stand in front of the point, or minus the zeros behind it: with the
//             place of a bound it decides, except when both are the same
//   order     of the digits against each bound's digits, first difference decides: smaller, greater
//             or equal so far. The same for 12.5 and 1.25e1, so a text that may become either keeps
//             one order
//   residue   of all digits modulo each divisor; with a divisor of 10^e × d the e zeros at the end
//             are counted instead of multiplying the states
//
// Example: at most 25. "2": place 1, equal so far. "24": place 2, smaller. "26" dies. "2.9" lives
// twice: as 2.9, which is settled by its place, and as the front of 2.9e0 but not of 2.9e1.
//
//    [0] ──'.'──► point ──digit──► fraction ↺      e leaves integer (one digit) and fraction
//    [1-9] = integer ↺ ──'.'──► point              for ExponentStates
//
// What has been settled is put into one form (settle()), so that equal futures meet in one state;
// dead ends that remain are trimmed by NumberLanguage. An integer within 0..100 has 48 states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "constrain/number_rule.h"
#include "constrain/number_table.h"

namespace zerohop {

struct NumberBranchParts {
  NumberTable* table = nullptr;
  ExponentStates* exponents = nullptr;
  MagnitudeRule rule;
  std::vector<NumberModulus> moduli;
  std::size_t scientific_digits = 0;  ///< SIZE_MAX: no bound
  std::size_t states_max = 0;
};

class NumberBranch {
 public:
  explicit NumberBranch(NumberBranchParts parts);

  /// Adds all states and sets the digits of `from`'s row to the first ones. False: too many.
  bool build(std::uint32_t from);

 private:
  enum class Phase : std::uint8_t { kInteger, kPoint, kFraction };
  enum Order : std::uint8_t { kEqual, kLess, kGreater };
  // A place that is known and already in the orders.
  static constexpr std::int32_t kPlaceSettled = INT32_MIN;
  struct Residue {
    std::uint32_t value = 0;  // of the digits, in phase kInteger without the counted zeros
    std::uint32_t zeros = 0;  // at the end; phase kInteger only
    bool divisible = true;    // from the divisor's last digit behind the point on
  };
  struct Config {
    Phase phase = Phase::kInteger;
    bool zero = false;        // no digit but 0 so far
    bool scientific = false;  // may be the front of a scientific spelling
    bool last_zero = false;   // the last digit of such a front's fraction
    bool lone_zero = false;   // which is "0", and not in the residues yet
    std::int32_t place = 0;
    std::uint32_t compared = 0;  // digits from the first that is not 0
    std::uint32_t fraction = 0;  // digits behind the point
    std::vector<Order> orders;
    std::vector<Residue> residues;
  };

  Config first(unsigned digit) const;
  bool digit(Config& config, unsigned digit) const;
  void integer_digit(Config& config, unsigned digit) const;
  void fraction_digit(Config& config, unsigned digit) const;
  bool point(Config& config) const;
  void compare_digit(Config& config, unsigned digit) const;
  bool settle(Config& config) const;
  bool settle_orders(Config& config, bool fraction) const;
  bool accepts(const Config& config) const;
  bool plain_divisible(const Config& config, std::size_t i) const;
  ExponentStates::Set exponents(const Config& config) const;
  bool digits_alike(const Config& config) const;

  std::uint32_t fraction_digits(std::size_t i) const;
  std::uint32_t times_ten(std::size_t i, std::uint32_t value, std::uint64_t times) const;
  static std::uint8_t outcome(Order order);
  Order final_order(const Config& config, std::size_t i) const;

  void fill_row(std::uint32_t state, const Config& config);
  std::uint32_t intern(const Config& config);
  void encode(const Config& config);
  void decode(std::uint32_t index, Config& config) const;
  void grow();

  NumberBranchParts parts_;
  std::int32_t place_max_ = 1;
  std::int32_t place_min_ = 0;
  std::uint32_t compared_max_ = 0;
  std::uint32_t fraction_max_ = 0;
  bool powers_of_ten_ = true;  // every modulus is one

  Config next_;                       // the state behind a byte
  std::size_t width_ = 0;             // words of a key
  std::vector<std::uint32_t> key_;    // the one being looked up
  std::vector<std::uint32_t> keys_;   // of all states, one behind the other
  std::vector<std::uint32_t> ids_;    // in the table
  std::vector<std::uint32_t> slots_;  // hash table of indices into ids_
};

}  // namespace zerohop

// The rows of a number automaton while it is built: states are added, never removed.
//
// Owned by one call of NumberLanguage::make().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace zerohop {

struct NumberTable {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  enum Symbol : std::size_t { kMinus = 10, kPlus, kPoint, kSmallE, kLargeE, kSymbols };

  std::vector<std::uint32_t> next;  ///< state × kSymbols
  std::vector<bool> accepting;

  std::size_t size() const { return accepting.size(); }
  std::uint32_t add(bool accepts) {
    accepting.push_back(accepts);
    next.resize(next.size() + kSymbols, kNone);
    return static_cast<std::uint32_t>(accepting.size() - 1);
  }
  std::uint32_t& at(std::uint32_t state, std::size_t symbol) {
    return next[state * kSymbols + symbol];
  }
};

/// The exponents behind 'e': automata for sets of integers between -999 and 999, written with an
/// optional sign and one to three digits.
class ExponentStates {
 public:
  static constexpr int kExponentMax = 999;
  /// Disjoint intervals in ascending order, both ends included.
  using Set = std::vector<std::pair<int, int>>;

  explicit ExponentStates(NumberTable& table) : table_(table) {}

  /// The state behind 'e', kNone when the set is empty. Equal sets share it.
  std::uint32_t entry(const Set& set);

 private:
  struct Prefix {
    bool minus = false;
    int digits = 0;
    int value = 0;
  };
  enum class Cover : std::uint8_t { kNothing, kSome, kAll };
  using Row = std::array<std::uint32_t, 11>;  // by digit; then whether it accepts

  static Cover cover(const Set& set, const Prefix& prefix);
  std::uint32_t node(const Set& set, const Prefix& prefix);
  std::uint32_t all(int digits_left);
  std::uint32_t shared(const Row& row);

  NumberTable& table_;
  std::map<Set, std::uint32_t> entries_;
  std::map<Row, std::uint32_t> rows_;
};

}  // namespace zerohop

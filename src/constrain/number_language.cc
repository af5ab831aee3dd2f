#include "constrain/number_language.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "constrain/number_branch.h"
#include "constrain/number_rule.h"
#include "constrain/number_table.h"

namespace zerohop {
namespace {

using Shared = std::shared_ptr<const NumberLanguage>;

// The symbol of each byte, or kSymbols.
constexpr std::array<std::uint8_t, 256> symbols_of_bytes() {
  std::array<std::uint8_t, 256> symbols{};
  symbols.fill(NumberTable::kSymbols);
  for (std::uint8_t digit = 0; digit < 10; ++digit) symbols['0' + digit] = digit;
  symbols['-'] = NumberTable::kMinus;
  symbols['+'] = NumberTable::kPlus;
  symbols['.'] = NumberTable::kPoint;
  symbols['e'] = NumberTable::kSmallE;
  symbols['E'] = NumberTable::kLargeE;
  return symbols;
}
constexpr std::array<std::uint8_t, 256> kSymbolOfByte = symbols_of_bytes();
constexpr std::string_view kBytes = "+-.0123456789Ee";  // ascending

// Every RFC 8259 number.
NumberTable free_table() {
  NumberTable table;
  const auto digits = [&](std::uint32_t from, std::uint32_t to) {
    for (std::size_t digit = 0; digit < 10; ++digit) table.at(from, digit) = to;
  };
  const std::uint32_t start = table.add(false), minus = table.add(false), zero = table.add(true),
                      integer = table.add(true), point = table.add(false),
                      fraction = table.add(true), e = table.add(false), sign = table.add(false),
                      exponent = table.add(true);
  table.at(start, NumberTable::kMinus) = minus;
  for (const std::uint32_t from : {start, minus}) {
    digits(from, integer);
    table.at(from, 0) = zero;
  }
  digits(integer, integer);
  digits(point, fraction);
  digits(fraction, fraction);
  digits(e, exponent);
  digits(sign, exponent);
  digits(exponent, exponent);
  for (const std::uint32_t from : {zero, integer, fraction}) {
    table.at(from, NumberTable::kSmallE) = table.at(from, NumberTable::kLargeE) = e;
    if (from != fraction) table.at(from, NumberTable::kPoint) = point;
  }
  table.at(e, NumberTable::kPlus) = table.at(e, NumberTable::kMinus) = sign;
  return table;
}

Error too_large(std::size_t states_max) {
  return invalid_request({}, "the numbers that satisfy the bounds and divisors need more than " +
                                 std::to_string(states_max) + " states");
}

// Whether one state per mark, place or remainder would already be too many.
bool hopeless(const MagnitudeRule& rule, const std::vector<NumberModulus>& all,
              std::size_t states_max) {
  const auto limit = static_cast<std::int64_t>(states_max);
  if (rule.marks.size() > states_max) return true;
  bool bounded = false;
  for (const NumberMark& mark : rule.marks) {
    if (mark.place > limit || mark.place < -limit) return true;
    if ((mark.allowed & NumberMark::kGreater) == 0) bounded = true;
  }
  for (const NumberModulus& modulus : all) {
    if (modulus.exponent > limit || modulus.exponent < -limit) return true;
    if (!bounded && rule.others && modulus.divisor > states_max) return true;
  }
  return false;
}

// Each state compares with each mark, so of many marks fewer states are worth their time (100 M
// comparisons: about 1.5 s) and memory (2 bits each).
std::size_t states_worth(std::size_t marks, std::size_t states_max) {
  constexpr std::size_t kComparisonsMax = 100'000'000;
  return std::min(states_max, kComparisonsMax / std::max<std::size_t>(marks, 1));
}

Result<NumberTable> make_table(const NumberRule& rule, std::size_t states_max) {
  ZH_ASSIGN_OR_RETURN(const std::vector<NumberModulus> all, moduli(rule));
  NumberTable table;
  ExponentStates exponents(table);
  const std::uint32_t start = table.add(false);
  const std::uint32_t minus = table.add(false);
  table.at(start, NumberTable::kMinus) = minus;
  NumberBranchParts parts{.table = &table,
                          .exponents = &exponents,
                          .rule = magnitude_rule(rule, NumberSign::kPlus),
                          .moduli = all,
                          .scientific_digits = scientific_digits_max(rule)};
  const MagnitudeRule negative = magnitude_rule(rule, NumberSign::kMinus);
  states_max = states_worth(std::max(parts.rule.marks.size(), negative.marks.size()), states_max);
  parts.states_max = states_max;
  if (hopeless(parts.rule, all, states_max) || hopeless(negative, all, states_max)) {
    return too_large(states_max);
  }
  if (!NumberBranch(parts).build(start)) return too_large(states_max);
  if (negative == parts.rule) {
    for (std::size_t digit = 0; digit < 10; ++digit) {
      table.at(minus, digit) = table.at(start, digit);
    }
  } else {
    parts.rule = negative;
    if (!NumberBranch(parts).build(minus)) return too_large(states_max);
  }
  return table;
}

// Takes points and exponents away; what led only to them is trimmed.
void keep_digits_alone(NumberTable& table) {
  for (std::uint32_t state = 0; state < table.size(); ++state) {
    for (const auto symbol : {NumberTable::kPoint, NumberTable::kSmallE, NumberTable::kLargeE}) {
      table.at(state, symbol) = NumberTable::kNone;
    }
  }
}

// Small languages that were made before. Schemas say the same few things about numbers (integer,
// at least 0, 0 to 100), and 30 to 120 µs each time would add up over 128 tools. At most
// kLanguagesMax × kStatesMax × 64 bytes = 8 MB; a full cache starts anew.
class LanguageCache {
 public:
  Shared find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = languages_.find(key);
    return found == languages_.end() ? nullptr : found->second;
  }

  void keep(const std::string& key, const Shared& language) {
    if (language->states() > kStatesMax || key.size() > kKeyBytesMax) return;
    const std::lock_guard lock(mutex_);
    if (languages_.size() >= kLanguagesMax) languages_.clear();
    languages_.emplace(key, language);
  }

 private:
  static constexpr std::size_t kLanguagesMax = 256;
  static constexpr std::size_t kStatesMax = 500;
  static constexpr std::size_t kKeyBytesMax = 1000;
  std::mutex mutex_;
  std::unordered_map<std::string, Shared> languages_;
};

LanguageCache& language_cache() {
  static LanguageCache cache;
  return cache;
}

}  // namespace

Result<Shared> NumberLanguage::make(const NumberRule& rule, std::size_t states_max) {
  const std::string key = key_of(rule);
  if (Shared known = language_cache().find(key); known && known->states() <= states_max) {
    return known;
  }
  NumberTable table;
  if (is_free(rule)) {
    table = free_table();
  } else {
    ZH_ASSIGN_OR_RETURN(table, make_table(rule, states_max));
  }
  if (rule.digits_alone) keep_digits_alone(table);
  static_assert(kSymbols == NumberTable::kSymbols);
  auto language = std::make_shared<NumberLanguage>();
  language->next_ = std::move(table.next);
  language->accepting_ = std::move(table.accepting);
  language->trim();
  language_cache().keep(key, language);
  return Shared(std::move(language));
}

// Keeps the states from which a number can be finished, and learns how far that is.
void NumberLanguage::trim() {
  const std::size_t count = accepting_.size();
  distance_.assign(count, kNoState);
  // States point mostly to later ones, so a few rounds from the back suffice.
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t state = count; state-- > 0;) {
      std::uint32_t best = accepting_[state] ? 0 : kNoState;
      for (std::size_t symbol = 0; symbol < kSymbols && best != 0; ++symbol) {
        const std::uint32_t target = next_[state * kSymbols + symbol];
        if (target == kNoState || distance_[target] == kNoState) continue;
        best = std::min(best, distance_[target] + 1);
      }
      changed = changed || best != distance_[state];
      distance_[state] = best;
    }
  }
  std::vector<std::uint32_t> renamed(count, kNoState);
  std::uint32_t kept = 0;
  for (std::size_t state = 0; state < count && distance_[0] != kNoState; ++state) {
    if (distance_[state] != kNoState) renamed[state] = kept++;
  }
  for (std::size_t state = 0; state < count; ++state) {
    const std::uint32_t to = renamed[state];
    if (to == kNoState) continue;
    for (std::size_t symbol = 0; symbol < kSymbols; ++symbol) {
      const std::uint32_t target = next_[state * kSymbols + symbol];
      next_[to * kSymbols + symbol] = target == kNoState ? kNoState : renamed[target];
    }
    accepting_[to] = accepting_[state];
    distance_[to] = distance_[state];
  }
  next_.resize(kept * kSymbols);
  accepting_.resize(kept);
  distance_.resize(kept);
}

std::uint32_t NumberLanguage::step(std::uint32_t state, unsigned char byte) const {
  const std::size_t symbol = kSymbolOfByte[byte];
  return symbol == kSymbols ? kNoState : next_[state * kSymbols + symbol];
}

std::string NumberLanguage::shortest_end(std::uint32_t state) const {
  std::string rest;
  while (distance_[state] > 0) {
    for (const char byte : kBytes) {
      const std::uint32_t target = step(state, static_cast<unsigned char>(byte));
      if (target == kNoState || distance_[target] + 1 != distance_[state]) continue;
      rest += byte;
      state = target;
      break;
    }
  }
  return rest;
}

std::size_t NumberLanguage::memory_bytes() const {
  return sizeof(*this) + next_.capacity() * sizeof(std::uint32_t) + accepting_.capacity() / 8 +
         distance_.capacity() * sizeof(std::uint32_t);
}

}  // namespace zerohop

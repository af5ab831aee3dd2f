#include "constrain/number_table.h"

namespace zerohop {
namespace {

constexpr int kDigitsMax = 3;

// How many of [first, last] are in the set.
int count_between(const ExponentStates::Set& set, int first, int last) {
  int count = 0;
  for (const auto& [low, high] : set) {
    const int from = low > first ? low : first;
    const int to = high < last ? high : last;
    if (from <= to) count += to - from + 1;
  }
  return count;
}

}  // namespace

// Whether the exponents that begin with `prefix` are in the set: the prefix itself, and what one or
// two further digits make of it.
ExponentStates::Cover ExponentStates::cover(const Set& set, const Prefix& prefix) {
  int wanted = 0;
  int found = 0;
  int first = prefix.value;
  int width = 1;
  for (int digits = prefix.digits; digits <= kDigitsMax; ++digits, first *= 10, width *= 10) {
    if (digits == 0) continue;
    const int last = first + width - 1;
    wanted += width;
    found += prefix.minus ? count_between(set, -last, -first) : count_between(set, first, last);
  }
  return found == 0 ? Cover::kNothing : found == wanted ? Cover::kAll : Cover::kSome;
}

std::uint32_t ExponentStates::shared(const Row& row) {
  const auto [place, added] = rows_.try_emplace(row, NumberTable::kNone);
  if (added) {
    place->second = table_.add(row[10] != 0);
    for (std::size_t digit = 0; digit < 10; ++digit) {
      table_.at(place->second, digit) = row[digit];
    }
  }
  return place->second;
}

std::uint32_t ExponentStates::all(int digits_left) {
  Row row;
  row.fill(digits_left == 0 ? NumberTable::kNone : all(digits_left - 1));
  row[10] = 1;
  return shared(row);
}

std::uint32_t ExponentStates::node(const Set& set, const Prefix& prefix) {
  const Cover found = cover(set, prefix);
  if (found == Cover::kNothing) return NumberTable::kNone;
  if (found == Cover::kAll && prefix.digits > 0) return all(kDigitsMax - prefix.digits);
  Row row;
  for (int digit = 0; digit < 10; ++digit) {
    const Prefix longer{prefix.minus, prefix.digits + 1, prefix.value * 10 + digit};
    row[static_cast<std::size_t>(digit)] =
        prefix.digits < kDigitsMax ? node(set, longer) : NumberTable::kNone;
  }
  const int value = prefix.minus ? -prefix.value : prefix.value;
  row[10] = prefix.digits > 0 && count_between(set, value, value) > 0 ? 1 : 0;
  return shared(row);
}

std::uint32_t ExponentStates::entry(const Set& set) {
  if (set.empty()) return NumberTable::kNone;
  const auto [place, added] = entries_.try_emplace(set, NumberTable::kNone);
  if (!added) return place->second;
  const std::uint32_t plus = node(set, {.minus = false});
  const std::uint32_t minus = node(set, {.minus = true});
  const std::uint32_t state = table_.add(false);
  table_.at(state, NumberTable::kPlus) = plus;
  table_.at(state, NumberTable::kMinus) = minus;
  for (std::size_t digit = 0; digit < 10 && plus != NumberTable::kNone; ++digit) {
    table_.at(state, digit) = table_.at(plus, digit);
  }
  return place->second = state;
}

}  // namespace zerohop

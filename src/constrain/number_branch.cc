#include "constrain/number_branch.h"

#include <algorithm>
#include <utility>

namespace zerohop {
namespace {

constexpr std::uint32_t kEmptySlot = UINT32_MAX;
constexpr std::size_t kHeadWords = 4;
constexpr std::size_t kOrdersInWord = 16;

// Takes [first, last] out of the set.
void remove(ExponentStates::Set& set, std::int64_t first, std::int64_t last) {
  ExponentStates::Set rest;
  for (const auto& [low, high] : set) {
    if (low < first)
      rest.push_back({low, static_cast<int>(std::min<std::int64_t>(high, first - 1))});
    if (high > last)
      rest.push_back({static_cast<int>(std::max<std::int64_t>(low, last + 1)), high});
  }
  set = std::move(rest);
}

std::uint64_t hash_of(const std::uint32_t* words, std::size_t count) {
  std::uint64_t hash = 0x9e3779b97f4a7c15;
  for (std::size_t i = 0; i < count; ++i) {
    hash = (hash ^ words[i]) * 0xff51afd7ed558ccd;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

NumberBranch::NumberBranch(NumberBranchParts parts) : parts_(std::move(parts)) {
  std::int64_t place_max = 1;
  std::int64_t place_min = 1;
  for (const NumberMark& mark : parts_.rule.marks) {
    place_max = std::max(place_max, mark.place);
    place_min = std::min(place_min, mark.place);
    compared_max_ = std::max(compared_max_, static_cast<std::uint32_t>(mark.digits.size()));
  }
  // One more than any mark's: from there on the place alone decides.
  place_max_ = static_cast<std::int32_t>(place_max + 1);
  place_min_ = static_cast<std::int32_t>(place_min - 1);
  for (std::size_t i = 0; i < parts_.moduli.size(); ++i) {
    fraction_max_ = std::max(fraction_max_, fraction_digits(i) + 1);
    if (parts_.moduli[i].divisor != 1) powers_of_ten_ = false;
  }
  width_ = kHeadWords + (parts_.rule.marks.size() + kOrdersInWord - 1) / kOrdersInWord +
           2 * parts_.moduli.size();
  key_.resize(width_);
  slots_.assign(256, kEmptySlot);
}

std::uint32_t NumberBranch::fraction_digits(std::size_t i) const {
  const std::int64_t exponent = parts_.moduli[i].exponent;
  return exponent < 0 ? static_cast<std::uint32_t>(-exponent) : 0;
}

std::uint32_t NumberBranch::times_ten(std::size_t i, std::uint32_t value,
                                      std::uint64_t times) const {
  const std::uint64_t divisor = parts_.moduli[i].divisor;
  // Behind 32 times nothing changes any more about being 0: a divisor below 2^31 has at most 31
  // factors of 2 or 5.
  std::uint64_t result = value % divisor;
  for (std::uint64_t n = std::min<std::uint64_t>(times, 32); n > 0; --n) {
    result = result * 10 % divisor;
  }
  return static_cast<std::uint32_t>(result);
}

NumberBranch::Config NumberBranch::first(unsigned digit) const {
  Config config;
  config.zero = digit == 0;
  config.scientific = digit != 0;
  config.place = digit == 0 ? 0 : 1;
  config.orders.assign(parts_.rule.marks.size(), kEqual);
  config.residues.resize(parts_.moduli.size());
  for (std::size_t i = 0; i < parts_.moduli.size(); ++i) {
    config.residues[i].value = digit % parts_.moduli[i].divisor;
  }
  if (digit != 0) compare_digit(config, digit);
  return config;
}

void NumberBranch::compare_digit(Config& config, unsigned digit) const {
  const std::uint32_t at = config.compared;
  for (std::size_t i = 0; i < config.orders.size(); ++i) {
    if (config.orders[i] != kEqual) continue;
    const std::string& digits = parts_.rule.marks[i].digits;
    const unsigned other = at < digits.size() ? static_cast<unsigned>(digits[at] - '0') : 0;
    if (digit != other) config.orders[i] = digit < other ? kLess : kGreater;
  }
  config.compared = std::min(at + 1, compared_max_);
}

void NumberBranch::integer_digit(Config& config, unsigned digit) const {
  config.scientific = false;
  config.place = std::min(config.place + 1, place_max_);
  compare_digit(config, digit);
  for (std::size_t i = 0; i < config.residues.size(); ++i) {
    const NumberModulus& modulus = parts_.moduli[i];
    Residue& residue = config.residues[i];
    const std::uint64_t divisor = modulus.divisor;
    if (modulus.exponent > 0 && digit == 0 && residue.zeros < modulus.exponent) {
      ++residue.zeros;
      continue;
    }
    std::uint64_t value = residue.value;
    if (digit != 0) {
      for (std::uint32_t n = 0; n < residue.zeros; ++n) value = value * 10 % divisor;
      residue.zeros = 0;
    }
    residue.value = static_cast<std::uint32_t>((value * 10 + digit) % divisor);
  }
}

bool NumberBranch::point(Config& config) const {
  config.phase = Phase::kPoint;
  if (parts_.scientific_digits == 0) config.scientific = false;
  for (std::size_t i = 0; i < config.residues.size(); ++i) {
    const NumberModulus& modulus = parts_.moduli[i];
    Residue& residue = config.residues[i];
    if (fraction_digits(i) == 0) {
      const bool zeros = config.zero || residue.zeros >= modulus.exponent;
      residue.divisible = zeros && residue.value == 0;
    }
    residue.zeros = 0;
  }
  return settle(config);
}

void NumberBranch::fraction_digit(Config& config, unsigned digit) const {
  config.phase = Phase::kFraction;
  if (config.zero && digit == 0) {
    config.place = std::max(config.place - 1, place_min_);
  } else {
    config.zero = false;
    compare_digit(config, digit);
  }
  if (config.residues.empty()) return;
  const std::uint32_t at = config.fraction++;
  if (config.fraction > parts_.scientific_digits) config.scientific = false;
  const bool was_lone = std::exchange(config.lone_zero, config.scientific && at + digit == 0);
  config.last_zero = config.scientific && digit == 0;
  for (std::size_t i = 0; i < config.residues.size(); ++i) {
    Residue& residue = config.residues[i];
    const std::uint64_t divisor = parts_.moduli[i].divisor;
    if (was_lone) residue.value = times_ten(i, residue.value, 1);
    const std::uint64_t longer = (std::uint64_t{residue.value} * 10 + digit) % divisor;
    const std::uint32_t counted = fraction_digits(i);
    if (at + 1 == counted) residue.divisible = longer == 0;
    if (at >= counted) residue.divisible = residue.divisible && digit == 0;
    if (!config.lone_zero) residue.value = static_cast<std::uint32_t>(longer);
  }
}

bool NumberBranch::digit(Config& config, unsigned digit) const {
  if (config.phase == Phase::kInteger) {
    if (config.zero) return false;  // 01
    integer_digit(config, digit);
  } else {
    fraction_digit(config, digit);
  }
  return settle(config);
}

// Forgets what does not matter any more; false when nothing of the language goes on so.
bool NumberBranch::settle(Config& config) const {
  if (!config.zero && !parts_.rule.others) return false;
  const bool fraction = config.phase != Phase::kInteger;
  const bool placed = !config.zero && !config.scientific;
  if (placed && !settle_orders(config, fraction)) return false;
  const bool equal =
      std::find(config.orders.begin(), config.orders.end(), kEqual) != config.orders.end();
  if (!equal) config.compared = 0;
  if (!fraction || config.scientific) return true;
  config.last_zero = config.lone_zero = false;
  config.fraction = std::min(config.fraction, fraction_max_);
  for (std::size_t i = 0; i < config.residues.size(); ++i) {
    if (config.fraction < fraction_digits(i)) continue;
    config.residues[i].value = 0;
    if (parts_.moduli[i].wanted && !config.residues[i].divisible) return false;
  }
  return true;
}

// The number cannot become a scientific spelling, so its place counts: it is put into the orders
// as far as it is known (behind the point it is, and then not needed any more).
bool NumberBranch::settle_orders(Config& config, bool fraction) const {
  for (std::size_t i = 0; i < config.orders.size(); ++i) {
    const NumberMark& mark = parts_.rule.marks[i];
    if (config.place != kPlaceSettled) {
      if (config.place > mark.place) {
        config.orders[i] = kGreater;
      } else if (fraction && config.place < mark.place) {
        config.orders[i] = kLess;
      }
    }
    const bool settled = fraction ? config.orders[i] != kEqual : config.place > mark.place;
    if (settled && (mark.allowed & outcome(config.orders[i])) == 0) return false;
  }
  if (fraction) config.place = kPlaceSettled;
  return true;
}

std::uint8_t NumberBranch::outcome(Order order) {
  if (order == kEqual) return NumberMark::kEqual;
  return order == kLess ? NumberMark::kLess : NumberMark::kGreater;
}

// How a number that ends here compares with mark i: digits of the mark that were not reached make
// it smaller.
NumberBranch::Order NumberBranch::final_order(const Config& config, std::size_t i) const {
  const bool shorter = config.compared < parts_.rule.marks[i].digits.size();
  return config.orders[i] == kEqual && shorter ? kLess : config.orders[i];
}

bool NumberBranch::plain_divisible(const Config& config, std::size_t i) const {
  if (config.zero) return true;
  const NumberModulus& modulus = parts_.moduli[i];
  const Residue& residue = config.residues[i];
  const std::uint32_t counted = fraction_digits(i);
  if (config.phase == Phase::kInteger && counted == 0) {
    return residue.value == 0 && residue.zeros >= modulus.exponent;
  }
  if (config.fraction >= counted) return residue.divisible;
  return times_ten(i, residue.value, counted - config.fraction + (config.lone_zero ? 1 : 0)) == 0;
}

bool NumberBranch::accepts(const Config& config) const {
  if (config.phase == Phase::kPoint) return false;
  if (config.zero ? !parts_.rule.zero : !parts_.rule.others) return false;
  for (std::size_t i = 0; i < parts_.moduli.size(); ++i) {
    if (plain_divisible(config, i) != parts_.moduli[i].wanted) return false;
  }
  if (config.zero) return true;
  for (std::size_t i = 0; i < parts_.rule.marks.size(); ++i) {
    const NumberMark& mark = parts_.rule.marks[i];
    Order order = final_order(config, i);
    if (config.place != kPlaceSettled && config.place != mark.place) {
      order = config.place < mark.place ? kLess : kGreater;
    }
    if ((mark.allowed & outcome(order)) == 0) return false;
  }
  return true;
}

// The exponents that make an allowed number of a scientific spelling's mantissa.
ExponentStates::Set NumberBranch::exponents(const Config& config) const {
  ExponentStates::Set set;
  if (!config.scientific || config.phase == Phase::kPoint) return set;
  if (config.last_zero && !config.lone_zero) return set;
  set.push_back({-ExponentStates::kExponentMax, ExponentStates::kExponentMax});
  for (std::size_t i = 0; i < parts_.rule.marks.size(); ++i) {
    const NumberMark& mark = parts_.rule.marks[i];
    const std::int64_t same = mark.place - 1;  // the exponent with which digits decide
    if ((mark.allowed & NumberMark::kLess) == 0) remove(set, INT64_MIN, same - 1);
    if ((mark.allowed & NumberMark::kGreater) == 0) remove(set, same + 1, INT64_MAX);
    if ((mark.allowed & outcome(final_order(config, i))) == 0) remove(set, same, same);
  }
  const std::uint32_t digits = config.lone_zero ? 0 : config.fraction;
  for (std::size_t i = 0; i < parts_.moduli.size() && !set.empty(); ++i) {
    const NumberModulus& modulus = parts_.moduli[i];
    std::uint32_t zeros = 0;  // that make the digits a multiple of the divisor
    constexpr std::uint32_t kZerosMax = 32;
    while (zeros < kZerosMax && times_ten(i, config.residues[i].value, zeros) != 0) ++zeros;
    std::int64_t least = modulus.exponent + digits + zeros;
    if (zeros == kZerosMax) least = INT64_MAX;
    if (modulus.wanted) {
      remove(set, INT64_MIN, least - 1);
    } else {
      remove(set, least, INT64_MAX);
    }
  }
  return set;
}

// Whether all digits but 0 lead to the same state.
bool NumberBranch::digits_alike(const Config& config) const {
  return powers_of_ten_ && config.compared == 0 && !config.zero;
}

bool NumberBranch::build(std::uint32_t from) {
  for (unsigned d = 0; d < 10; ++d) {
    Config config = first(d);
    if (settle(config)) parts_.table->at(from, d) = intern(config);
  }
  Config config = first(0);
  for (std::uint32_t index = 0; index < ids_.size(); ++index) {
    if (parts_.table->size() > parts_.states_max) return false;
    decode(index, config);
    fill_row(ids_[index], config);
  }
  return true;
}

void NumberBranch::fill_row(std::uint32_t state, const Config& config) {
  NumberTable& table = *parts_.table;
  const bool alike = digits_alike(config);
  for (unsigned d = 0; d < 10; ++d) {
    if (alike && d > 1) {
      table.at(state, d) = table.at(state, 1);
      continue;
    }
    next_ = config;
    if (!digit(next_, d)) continue;
    const std::uint32_t target = intern(next_);
    table.at(state, d) = target;
  }
  if (config.phase == Phase::kInteger) {
    next_ = config;
    if (point(next_)) {
      const std::uint32_t target = intern(next_);
      table.at(state, NumberTable::kPoint) = target;
    }
  }
  const std::uint32_t exponent = parts_.exponents->entry(exponents(config));
  table.at(state, NumberTable::kSmallE) = exponent;
  table.at(state, NumberTable::kLargeE) = exponent;
}

std::uint32_t NumberBranch::intern(const Config& config) {
  encode(config);
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash_of(key_.data(), width_) & mask;
  for (; slots_[slot] != kEmptySlot; slot = (slot + 1) & mask) {
    const std::uint32_t index = slots_[slot];
    if (std::equal(key_.begin(), key_.end(), keys_.begin() + std::ptrdiff_t(index * width_))) {
      return ids_[index];
    }
  }
  slots_[slot] = static_cast<std::uint32_t>(ids_.size());
  ids_.push_back(parts_.table->add(accepts(config)));
  keys_.insert(keys_.end(), key_.begin(), key_.end());
  if (ids_.size() * 2 > slots_.size()) grow();
  return ids_.back();
}

void NumberBranch::grow() {
  slots_.assign(slots_.size() * 2, kEmptySlot);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t index = 0; index < ids_.size(); ++index) {
    std::size_t slot = hash_of(keys_.data() + index * width_, width_) & mask;
    while (slots_[slot] != kEmptySlot) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<std::uint32_t>(index);
  }
}

void NumberBranch::encode(const Config& config) {
  std::fill(key_.begin(), key_.end(), 0);
  key_[0] = static_cast<std::uint32_t>(config.phase) | (config.zero ? 4U : 0U) |
            (config.scientific ? 8U : 0U) | (config.last_zero ? 16U : 0U) |
            (config.lone_zero ? 32U : 0U);
  key_[1] = static_cast<std::uint32_t>(config.place);
  key_[2] = config.compared;
  key_[3] = config.fraction;
  for (std::size_t i = 0; i < config.orders.size(); ++i) {
    key_[kHeadWords + i / kOrdersInWord] |= std::uint32_t{config.orders[i]}
                                            << (2 * (i % kOrdersInWord));
  }
  std::size_t word = width_ - 2 * config.residues.size();
  for (const Residue& residue : config.residues) {
    key_[word++] = residue.value;
    key_[word++] = residue.zeros * 2 + (residue.divisible ? 1 : 0);
  }
}

void NumberBranch::decode(std::uint32_t index, Config& config) const {
  const std::uint32_t* key = keys_.data() + index * width_;
  config.phase = static_cast<Phase>(key[0] & 3);
  config.zero = (key[0] & 4) != 0;
  config.scientific = (key[0] & 8) != 0;
  config.last_zero = (key[0] & 16) != 0;
  config.lone_zero = (key[0] & 32) != 0;
  config.place = static_cast<std::int32_t>(key[1]);
  config.compared = key[2];
  config.fraction = key[3];
  for (std::size_t i = 0; i < config.orders.size(); ++i) {
    const std::uint32_t word = key[kHeadWords + i / kOrdersInWord];
    config.orders[i] = static_cast<Order>((word >> (2 * (i % kOrdersInWord))) & 3);
  }
  const std::uint32_t* word = key + (width_ - 2 * config.residues.size());
  for (Residue& residue : config.residues) {
    residue.value = *word++;
    residue.zeros = *word / 2;
    residue.divisible = *word++ % 2 != 0;
  }
}

}  // namespace zerohop

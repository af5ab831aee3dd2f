#include "constrain/number_rule.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace zerohop {
namespace {

constexpr std::uint64_t kDivisorMax = 0x7fff'ffff;

// Whether digits × 10^zeros is a multiple of `divisor`, all as decimal digits: long division.
bool divides(const std::string& divisor, const std::string& digits, std::size_t zeros) {
  std::string rest;  // the remainder, without zeros in front
  const auto at_least = [&] {
    return rest.size() != divisor.size() ? rest.size() > divisor.size() : rest >= divisor;
  };
  const auto subtract = [&] {
    int borrow = 0;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      char& digit = rest[rest.size() - 1 - i];
      const int minus = i < divisor.size() ? divisor[divisor.size() - 1 - i] - '0' : 0;
      const int difference = digit - '0' - minus - borrow;
      borrow = difference < 0 ? 1 : 0;
      digit = static_cast<char>('0' + difference + 10 * borrow);
    }
    rest.erase(0, std::min(rest.find_first_not_of('0'), rest.size()));
  };
  for (std::size_t i = 0; i < digits.size() + zeros; ++i) {
    const char digit = i < digits.size() ? digits[i] : '0';
    if (!rest.empty() || digit != '0') rest += digit;
    while (at_least()) subtract();
  }
  return rest.empty();
}

bool is_multiple(const Decimal& value, const Decimal& divisor) {
  if (value.digits.empty()) return true;
  const std::int64_t zeros = value.exponent - divisor.exponent;
  if (zeros < 0) return false;  // the last digit is not 0
  // A divisor of n digits has fewer than 4n factors of 2 or 5: more zeros make no difference.
  const std::int64_t useful = 4 * static_cast<std::int64_t>(divisor.digits.size());
  return divides(divisor.digits, value.digits, static_cast<std::size_t>(std::min(zeros, useful)));
}

const Decimal& one() {
  static const Decimal kOne{.negative = false, .digits = "1", .exponent = 0};
  return kOne;
}

// Numbers as 2^twos × 5^fives × other: the least common multiple is the largest of each.
struct Factors {
  std::int64_t twos = 0;
  std::int64_t fives = 0;
  std::uint64_t other = 1;
};

std::optional<Factors> factors(const Decimal& divisor) {
  constexpr std::size_t kDigitsMax = 18;
  if (divisor.digits.size() > kDigitsMax) return std::nullopt;
  std::uint64_t value = std::stoull(divisor.digits);
  Factors result{.twos = divisor.exponent, .fives = divisor.exponent};
  for (; value % 2 == 0; value /= 2) ++result.twos;
  for (; value % 5 == 0; value /= 5) ++result.fives;
  result.other = value;
  return result;
}

std::optional<NumberModulus> to_modulus(const Factors& value) {
  NumberModulus modulus;
  modulus.exponent = std::min(value.twos, value.fives);
  std::uint64_t divisor = value.other;
  for (std::int64_t i = modulus.exponent; i < value.twos && divisor <= kDivisorMax; ++i) {
    divisor *= 2;
  }
  for (std::int64_t i = modulus.exponent; i < value.fives && divisor <= kDivisorMax; ++i) {
    divisor *= 5;
  }
  if (divisor > kDivisorMax) return std::nullopt;
  modulus.divisor = static_cast<std::uint32_t>(divisor);
  return modulus;
}

Error divisor_too_large(const Decimal& divisor) {
  return invalid_request({}, "divisibility by " + to_text(divisor) + " needs too many states");
}

// The conditions on magnitudes, gathered by value.
class Marks {
 public:
  explicit Marks(MagnitudeRule& rule) : rule_(rule) {}

  void allow(const Decimal& value, std::uint8_t outcomes) {
    if (value.digits.empty()) {  // magnitudes are equal to 0 or greater
      if ((outcomes & NumberMark::kEqual) == 0) rule_.zero = false;
      if ((outcomes & NumberMark::kGreater) == 0) rule_.others = false;
      return;
    }
    if ((outcomes & NumberMark::kLess) == 0) rule_.zero = false;
    const auto [mark, added] =
        index_.try_emplace({value.place(), value.digits}, rule_.marks.size());
    if (added) rule_.marks.push_back({value.digits, value.place()});
    rule_.marks[mark->second].allowed &= outcomes;
  }

 private:
  MagnitudeRule& rule_;
  std::map<std::pair<std::int64_t, std::string>, std::size_t> index_;
};

bool in_order(const Decimal& value, const std::optional<NumberRule::Bound>& bound, int forbidden) {
  if (!bound) return true;
  const int order = compare(value, bound->value);
  return order != forbidden && !(order == 0 && bound->exclusive);
}

}  // namespace

MagnitudeRule magnitude_rule(const NumberRule& rule, NumberSign sign) {
  MagnitudeRule result;
  Marks marks(result);
  const bool minus = sign == NumberSign::kMinus;
  const auto bound = [&](const std::optional<NumberRule::Bound>& limit, bool upper) {
    if (!limit) return;
    const bool beyond_zero = limit->value.negative != minus && !limit->value.digits.empty();
    if (beyond_zero) {  // all numbers of this sign are on one side of it
      if (upper != limit->value.negative) return;
      result.zero = result.others = false;
      return;
    }
    const bool from_above = upper != minus;  // of the magnitude
    std::uint8_t allowed = from_above ? NumberMark::kLess : NumberMark::kGreater;
    if (!limit->exclusive) allowed |= NumberMark::kEqual;
    marks.allow(limit->value, allowed);
  };
  bound(rule.min, false);
  bound(rule.max, true);
  for (const Decimal& value : rule.except) {
    if (value.negative != minus && !value.digits.empty()) continue;
    marks.allow(value, NumberMark::kLess | NumberMark::kGreater);
  }
  return result;
}

Result<std::vector<NumberModulus>> moduli(const NumberRule& rule) {
  std::vector<NumberModulus> result;
  std::vector<Decimal> wanted = rule.multiple_of;
  if (rule.kind == NumberRule::Kind::kInteger) wanted.push_back(one());
  std::optional<Factors> all;
  for (const Decimal& divisor : wanted) {
    const std::optional<Factors> next = factors(divisor);
    if (!next) return divisor_too_large(divisor);
    if (!all) all = next;
    all->twos = std::max(all->twos, next->twos);
    all->fives = std::max(all->fives, next->fives);
    const std::uint64_t common = std::gcd(all->other, next->other);
    if (next->other / common > kDivisorMax || all->other > kDivisorMax) {
      return divisor_too_large(divisor);
    }
    all->other *= next->other / common;
  }
  if (all) {
    const std::optional<NumberModulus> modulus = to_modulus(*all);
    if (!modulus) return divisor_too_large(wanted.front());
    result.push_back(*modulus);
  }
  std::vector<Decimal> unwanted = rule.not_multiple_of;
  if (rule.kind == NumberRule::Kind::kFraction) unwanted.push_back(one());
  for (const Decimal& divisor : unwanted) {
    const std::optional<Factors> value = factors(divisor);
    const std::optional<NumberModulus> modulus = value ? to_modulus(*value) : std::nullopt;
    if (!modulus) return divisor_too_large(divisor);
    result.push_back(*modulus);
    result.back().wanted = false;
  }
  return result;
}

bool is_free(const NumberRule& rule) {
  return !rule.min && !rule.max && rule.kind == NumberRule::Kind::kAny &&
         rule.multiple_of.empty() && rule.not_multiple_of.empty() && rule.except.empty();
}

std::string key_of(const NumberRule& rule) {
  std::string key(1, static_cast<char>('0' + static_cast<int>(rule.kind)));
  if (rule.digits_alone) key += 'd';
  const auto add = [&](char mark, const Decimal& value) {
    key += mark;
    if (value.negative) key += '-';
    key += value.digits + 'e' + std::to_string(value.exponent);
  };
  if (rule.min) add(rule.min->exclusive ? '>' : ']', rule.min->value);
  if (rule.max) add(rule.max->exclusive ? '<' : '[', rule.max->value);
  for (const Decimal& value : rule.multiple_of) add('*', value);
  for (const Decimal& value : rule.not_multiple_of) add('/', value);
  for (const Decimal& value : rule.except) add('!', value);
  return key;
}

bool satisfies(const Decimal& value, const NumberRule& rule) {
  if (!in_order(value, rule.min, -1) || !in_order(value, rule.max, 1)) return false;
  const bool integer = value.digits.empty() || value.exponent >= 0;
  if (rule.kind == NumberRule::Kind::kInteger && !integer) return false;
  if (rule.kind == NumberRule::Kind::kFraction && integer) return false;
  const auto divides_value = [&](const Decimal& divisor) { return is_multiple(value, divisor); };
  return std::all_of(rule.multiple_of.begin(), rule.multiple_of.end(), divides_value) &&
         std::none_of(rule.not_multiple_of.begin(), rule.not_multiple_of.end(), divides_value) &&
         std::find(rule.except.begin(), rule.except.end(), value) == rule.except.end();
}

std::size_t scientific_digits_max(const NumberRule& rule) {
  constexpr std::size_t kDigits = 6;
  constexpr std::uint64_t kSmall = 64;
  const auto all = moduli(rule);
  if (!all.ok()) return 0;
  if (all->empty()) return SIZE_MAX;
  std::uint64_t product = 1;
  for (const NumberModulus& modulus : *all) {
    product *= std::min<std::uint64_t>(modulus.divisor, kSmall + 1);
    if (product > kSmall) return 0;
  }
  return kDigits;
}

}  // namespace zerohop

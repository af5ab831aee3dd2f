#include "api/json_numbers.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <system_error>

namespace zerohop {
namespace {

// digits × 10^exponent; no zeros at either end of the digits, so equal values have equal parts.
struct Decimal {
  bool negative = false;
  std::string digits;  // empty: zero
  std::int64_t exponent = 0;
  friend bool operator==(const Decimal&, const Decimal&) = default;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The text behind `e`; nothing: beyond 64 bits.
std::optional<std::int64_t> exponent_of(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t exponent = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  constexpr std::int64_t kMost = 1'000'000'000'000;  // so that sums stay in range
  if (fault != std::errc() || exponent > kMost || exponent < -kMost) return std::nullopt;
  return exponent;
}

std::optional<Decimal> decimal_of(std::string_view number) {
  Decimal decimal;
  if (number.starts_with('-')) {
    decimal.negative = true;
    number.remove_prefix(1);
  }
  const std::size_t end = number.find_first_of("eE");
  if (end != std::string_view::npos) {
    const auto exponent = exponent_of(number.substr(end + 1));
    if (!exponent) return std::nullopt;
    decimal.exponent = *exponent;
  }
  bool in_fraction = false;
  for (const char c : number.substr(0, end)) {
    if (c == '.') in_fraction = true;
    if (!is_digit(c)) continue;
    if (in_fraction) --decimal.exponent;
    if (c != '0' || !decimal.digits.empty()) decimal.digits.push_back(c);
  }
  while (decimal.digits.ends_with('0')) {
    decimal.digits.pop_back();
    ++decimal.exponent;
  }
  if (decimal.digits.empty()) return Decimal{};  // zero has no sign and no exponent
  return decimal;
}

}  // namespace

bool is_same_number(double number, std::string_view written) {
  std::array<char, 32> shortest;
  const auto end = std::to_chars(shortest.data(), shortest.data() + shortest.size(), number).ptr;
  const std::string_view digits(shortest.data(), static_cast<std::size_t>(end - shortest.data()));
  if (digits == written) return true;
  const auto wanted = decimal_of(written);
  return wanted && wanted == decimal_of(digits);
}

std::optional<std::string_view> if_exact_number(const boost::json::value& value) {
  const auto* string = value.if_string();
  if (string == nullptr) return std::nullopt;
  const std::string_view text(string->data(), string->size());
  if (!text.starts_with(kExactNumberMark)) return std::nullopt;
  return text.substr(kExactNumberMark.size());
}

const boost::json::string* if_text(const boost::json::value& value) {
  return if_exact_number(value) ? nullptr : value.if_string();
}

}  // namespace zerohop

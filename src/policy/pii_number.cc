// Card numbers and IBANs: forms with check digits.
#include <algorithm>
#include <array>
#include <charconv>

#include "policy/pii_parts.h"

namespace zerohop {
namespace {

constexpr std::size_t kCardDigitsMin = 13;
constexpr std::size_t kCardDigitsMax = 19;

std::uint32_t first_digits(std::string_view digits, std::size_t count) {
  std::uint32_t number = 0;
  std::from_chars(digits.data(), digits.data() + count, number);
  return number;
}

// The networks' ranges of first digits, with the lengths that each gives out.
bool is_issued(std::string_view digits) {
  const std::size_t length = digits.size();
  const std::uint32_t two = first_digits(digits, 2);
  const std::uint32_t three = first_digits(digits, 3);
  const std::uint32_t four = first_digits(digits, 4);
  if (digits[0] == '4') return length == 13 || length == 16 || length == 19;
  if ((two >= 51 && two <= 55) || (four >= 2221 && four <= 2720)) return length == 16;
  if (two == 34 || two == 37) return length == 15;
  if ((three >= 300 && three <= 305) || two == 36 || two == 38) return length >= 14;
  const bool discover = four == 6011 || two == 65 || (three >= 644 && three <= 649);
  if (discover || two == 62 || (four >= 3528 && four <= 3589)) return length >= 16;
  const bool maestro = two == 50 || (two >= 56 && two <= 58) || four == 6304 || four == 6759;
  return maestro;
}

bool passes_luhn(std::string_view digits) {
  int sum = 0;
  bool doubled = false;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    const int value = *digit - '0';
    const int twice = value * 2;
    sum += doubled ? (twice > 9 ? twice - 9 : twice) : value;
    doubled = !doubled;
  }
  return sum % 10 == 0;
}

struct CountryLength {
  std::string_view country;
  std::size_t length;
};

// IBAN registry, the countries with most accounts.
constexpr std::array<CountryLength, 42> kIbanLengths{{
    {"AD", 24}, {"AE", 23}, {"AT", 20}, {"BE", 16}, {"BG", 22}, {"BR", 29}, {"CH", 21},
    {"CY", 28}, {"CZ", 24}, {"DE", 22}, {"DK", 18}, {"EE", 20}, {"ES", 24}, {"FI", 18},
    {"FR", 27}, {"GB", 22}, {"GR", 27}, {"HR", 21}, {"HU", 28}, {"IE", 22}, {"IL", 23},
    {"IS", 26}, {"IT", 27}, {"LI", 21}, {"LT", 20}, {"LU", 20}, {"LV", 21}, {"MC", 27},
    {"MT", 31}, {"NL", 18}, {"NO", 15}, {"PK", 24}, {"PL", 28}, {"PT", 25}, {"QA", 29},
    {"RO", 24}, {"RS", 22}, {"SA", 24}, {"SE", 24}, {"SI", 19}, {"SK", 24}, {"TR", 26},
}};

std::size_t iban_length(std::string_view country) {
  const auto found = std::ranges::find(kIbanLengths, country, &CountryLength::country);
  return found == kIbanLengths.end() ? 0 : found->length;
}

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }

// ISO 13616: the first four characters moved to the end, letters as numbers from 10 on.
int remainder_97(std::string_view account) {
  int rest = 0;
  const auto add = [&rest](char c) {
    rest = is_ascii_digit(c) ? (rest * 10 + (c - '0')) % 97 : (rest * 100 + (c - 'A' + 10)) % 97;
  };
  for (const char c : account.substr(4)) add(c);
  for (const char c : account.substr(0, 4)) add(c);
  return rest;
}

}  // namespace

// Groups may be set apart by one space or dash; a card may end behind any of them (an expiry date
// follows).
std::optional<std::size_t> card_from(std::string_view text, std::size_t at) {
  if (byte_before(text, at) == '.') return std::nullopt;
  std::array<char, kCardDigitsMax> digits{};
  std::size_t count = 0;
  std::optional<std::size_t> end;
  while (count < kCardDigitsMax && is_ascii_digit(byte_at(text, at))) {
    digits[count++] = text[at++];
    const char behind = byte_at(text, at);
    if (is_ascii_digit(behind)) continue;
    const std::string_view number(digits.data(), count);
    const bool ends = !is_ascii_letter(behind);
    if (ends && count >= kCardDigitsMin && is_issued(number) && passes_luhn(number)) end = at;
    if (behind == ' ' || behind == '-') ++at;
  }
  return end;
}

std::optional<std::size_t> iban_from(std::string_view text, std::size_t at) {
  const char country[2] = {upper(text[at]), upper(byte_at(text, at + 1))};
  const std::size_t length = iban_length(std::string_view(country, 2));
  if (length == 0 || !is_ascii_digit(byte_at(text, at + 2))) return std::nullopt;
  std::array<char, 34> account{};
  std::size_t count = 0;
  while (count < length) {
    const char c = byte_at(text, at);
    // In print, groups of four are set apart.
    if (c == ' ' && count % 4 == 0 && count > 0 && byte_before(text, at) != ' ') {
      ++at;
      continue;
    }
    if (!is_ascii_word(c)) return std::nullopt;
    account[count++] = upper(c);
    ++at;
  }
  if (is_ascii_word(byte_at(text, at))) return std::nullopt;
  if (remainder_97(std::string_view(account.data(), count)) != 1) return std::nullopt;
  return at;
}

}  // namespace zerohop

#include "constrain/number_language.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "constrain/number_rule.h"

namespace zerohop {
namespace {

using Kind = NumberRule::Kind;

Decimal decimal(std::string_view text) {
  const auto value = parse_decimal(text);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? *value : Decimal{};
}

NumberRule::Bound at(std::string_view text) { return {decimal(text), false}; }
NumberRule::Bound beyond(std::string_view text) { return {decimal(text), true}; }

std::shared_ptr<const NumberLanguage> language(const NumberRule& rule) {
  auto made = NumberLanguage::make(rule);
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
  return made.ok() ? *made : nullptr;
}

bool accepts(const NumberLanguage& numbers, std::string_view text) {
  if (numbers.empty()) return false;
  std::uint32_t state = numbers.start();
  for (const char byte : text) {
    state = numbers.step(state, static_cast<unsigned char>(byte));
    if (state == NumberLanguage::kNoState) return false;
  }
  return numbers.accepts(state);
}

std::string describe(const NumberRule& rule) {
  std::string text = rule.kind == Kind::kInteger    ? "integer"
                     : rule.kind == Kind::kFraction ? "fraction"
                                                    : "number";
  const auto bound = [&](const char* name, const std::optional<NumberRule::Bound>& limit) {
    if (limit)
      text += std::string(" ") + name + (limit->exclusive ? "!" : "") + to_text(limit->value);
  };
  bound("min", rule.min);
  bound("max", rule.max);
  for (const Decimal& value : rule.multiple_of) text += " of " + to_text(value);
  for (const Decimal& value : rule.not_multiple_of) text += " not of " + to_text(value);
  for (const Decimal& value : rule.except) text += " except " + to_text(value);
  return text;
}

// All RFC 8259 numbers over the alphabet of at most `bytes_max` bytes.
std::vector<std::string> number_texts(std::string_view alphabet, std::size_t bytes_max) {
  const auto all = language(NumberRule{});
  std::vector<std::string> texts;
  std::string text;
  const std::function<void(std::uint32_t)> visit = [&](std::uint32_t state) {
    if (all->accepts(state)) texts.push_back(text);
    if (text.size() == bytes_max) return;
    for (const char byte : alphabet) {
      const std::uint32_t next = all->step(state, static_cast<unsigned char>(byte));
      if (next == NumberLanguage::kNoState) continue;
      text.push_back(byte);
      visit(next);
      text.pop_back();
    }
  };
  visit(all->start());
  return texts;
}

// Whether the rule's language may contain this spelling of a number that satisfies it: exactly the
// texts that pass this and satisfies() are in the language.
bool spelling_allowed(std::string_view number, const NumberRule& rule) {
  const std::size_t e = number.find_first_of("eE");
  if (e == std::string_view::npos || is_free(rule)) return true;
  std::string_view exponent = number.substr(e + 1);
  if (exponent.front() == '+' || exponent.front() == '-') exponent.remove_prefix(1);
  std::string_view mantissa = number.substr(0, e);
  if (mantissa.front() == '-') mantissa.remove_prefix(1);
  constexpr std::size_t kExponentDigits = 3;
  if (exponent.size() > kExponentDigits || mantissa.front() == '0') return false;
  if (mantissa.size() == 1) return true;
  if (mantissa[1] != '.') return false;
  const std::string_view fraction = mantissa.substr(2);
  const std::size_t digits_max = scientific_digits_max(rule);
  if (digits_max == SIZE_MAX) return true;
  return digits_max > 0 &&
         (fraction == "0" || (fraction.size() <= digits_max && fraction.back() != '0'));
}

// The language is what spelling_allowed() and satisfies() say; every state can be finished.
void compare_with_twin(const NumberRule& rule, const std::vector<std::string>& texts) {
  const auto numbers = language(rule);
  ASSERT_NE(numbers, nullptr) << describe(rule);
  for (const std::string& text : texts) {
    const bool expected = spelling_allowed(text, rule) && satisfies(decimal(text), rule);
    ASSERT_EQ(accepts(*numbers, text), expected) << text << " as " << describe(rule);
  }
  for (std::uint32_t state = 0; state < numbers->states(); ++state) {
    const std::string end = numbers->shortest_end(state);
    ASSERT_EQ(end.size(), numbers->shortest_end_bytes(state));
    std::uint32_t last = state;
    for (const char byte : end) last = numbers->step(last, static_cast<unsigned char>(byte));
    ASSERT_TRUE(numbers->accepts(last)) << describe(rule);
  }
}

TEST(NumberRule, HandMadeCasesHold) {
  EXPECT_TRUE(satisfies(decimal("1.0"), {.kind = Kind::kInteger}));
  EXPECT_TRUE(satisfies(decimal("1.5e1"), {.kind = Kind::kInteger}));
  EXPECT_FALSE(satisfies(decimal("1.55e1"), {.kind = Kind::kInteger}));
  EXPECT_TRUE(satisfies(decimal("1.55e1"), {.kind = Kind::kFraction}));
  EXPECT_FALSE(satisfies(decimal("0"), {.kind = Kind::kFraction}));
  EXPECT_TRUE(satisfies(decimal("5"), {.min = at("5"), .max = at("5")}));
  EXPECT_FALSE(satisfies(decimal("5"), {.min = beyond("5")}));
  EXPECT_FALSE(satisfies(decimal("5"), {.max = beyond("5")}));
  EXPECT_TRUE(satisfies(decimal("-5.1"), {.max = beyond("-5")}));
  EXPECT_TRUE(satisfies(decimal("1.25"), {.multiple_of = {decimal("0.01")}}));
  EXPECT_FALSE(satisfies(decimal("1.255"), {.multiple_of = {decimal("0.01")}}));
  EXPECT_TRUE(satisfies(decimal("-4.5"), {.multiple_of = {decimal("1.5")}}));
  EXPECT_TRUE(satisfies(decimal("12391239123"), {.multiple_of = {decimal("1e-8")}}));
  EXPECT_TRUE(satisfies(decimal("1e308"), {.multiple_of = {decimal("0.5")}}));
  EXPECT_FALSE(satisfies(decimal("1e308"), {.multiple_of = {decimal("0.123456789")}}));
  EXPECT_TRUE(satisfies(decimal("123456789e300"), {.multiple_of = {decimal("0.123456789")}}));
  EXPECT_FALSE(satisfies(decimal("75"), {.multiple_of = {decimal("10")}}));
  EXPECT_FALSE(satisfies(decimal("0"), {.not_multiple_of = {decimal("7")}}));
  EXPECT_FALSE(satisfies(decimal("1.0"), {.except = {decimal("1")}}));
  EXPECT_TRUE(satisfies(decimal("340282366920938463463374607431768211456"),
                        {.multiple_of = {decimal("18446744073709551616")}}));
}

TEST(NumberRule, SpellingsAreThoseOfTheHeader) {
  const NumberRule bounded{.min = at("0")};
  for (const std::string_view text : {"1", "0.000", "1e5", "1E+005", "9.9900e-9"}) {
    EXPECT_TRUE(spelling_allowed(text, bounded)) << text;
  }
  for (const std::string_view text : {"0e5", "0.5e1", "10e1", "1e0005"}) {
    EXPECT_FALSE(spelling_allowed(text, bounded)) << text;
    EXPECT_TRUE(spelling_allowed(text, {})) << text;
  }
  const NumberRule integer{.kind = Kind::kInteger};
  for (const std::string_view text : {"1.000", "1.0e3", "1.123456e6"}) {
    EXPECT_TRUE(spelling_allowed(text, integer)) << text;
  }
  for (const std::string_view text : {"1.00e3", "1.50e3", "1.1234567e7"}) {
    EXPECT_FALSE(spelling_allowed(text, integer)) << text;
  }
}

TEST(NumberLanguage, UsualRulesEqualTheirTwin) {
  const std::vector<std::string> texts = number_texts("-+.eE0125", 6);
  EXPECT_GT(texts.size(), 20'000U);
  const std::vector<NumberRule> rules = {
      {},
      {.kind = Kind::kInteger},
      {.kind = Kind::kFraction},
      {.min = at("0")},
      {.min = beyond("0")},
      {.max = at("0")},
      {.max = beyond("0")},
      {.min = at("0"), .max = at("0")},
      {.min = beyond("0"), .max = beyond("0")},
      {.min = at("0"), .max = at("100"), .kind = Kind::kInteger},
      {.min = at("-1.5"), .max = beyond("25.02")},
      {.min = at("12"), .max = at("12")},
      {.min = at("0.012"), .max = at("0.5")},
      {.min = beyond("-0.05"), .max = at("-0.0021")},
      {.multiple_of = {decimal("0.01")}},
      {.multiple_of = {decimal("1e-8")}},
      {.multiple_of = {decimal("5")}},
      {.multiple_of = {decimal("12")}},
      {.multiple_of = {decimal("1.5")}},
      {.multiple_of = {decimal("100")}},
      {.multiple_of = {decimal("250"), decimal("0.4")}},
      {.multiple_of = {decimal("1e308")}},
      {.not_multiple_of = {decimal("5"), decimal("0.2")}},
      {.kind = Kind::kInteger, .not_multiple_of = {decimal("20")}},
      {.except = {decimal("0"), decimal("1"), decimal("-2.5"), decimal("50")}},
      {.min = at("1"), .multiple_of = {decimal("2")}, .except = {decimal("2"), decimal("10")}},
      {.min = at("1e3")},
      {.max = at("2e-3")},
  };
  for (const NumberRule& rule : rules) compare_with_twin(rule, texts);
}

Decimal random_decimal(Random& random, bool positive) {
  static constexpr std::string_view kDigits = "01259";
  std::string text = !positive && random.below(2) == 0 ? "-" : "";
  const std::uint64_t whole = random.below(4);
  if (whole == 0) {
    text += "0";
  } else {
    text += kDigits[1 + random.below(4)];
    for (std::uint64_t i = 1; i < whole; ++i) text += kDigits[random.below(5)];
  }
  const std::uint64_t fraction = random.below(3);
  if (fraction > 0) text += ".";
  for (std::uint64_t i = 0; i < fraction; ++i) text += kDigits[random.below(5)];
  return decimal(text);
}

NumberRule random_rule(Random& random) {
  NumberRule rule;
  if (random.below(2) == 0) rule.min = {random_decimal(random, false), random.below(2) == 0};
  if (random.below(2) == 0) rule.max = {random_decimal(random, false), random.below(2) == 0};
  rule.kind = static_cast<Kind>(random.below(3));
  const auto divisors = [&](std::vector<Decimal>& list) {
    for (std::uint64_t n = random.below(5); n > 3; --n) {
      list.push_back(random_decimal(random, true));
      if (list.back().digits.empty()) list.pop_back();
    }
  };
  divisors(rule.multiple_of);
  divisors(rule.not_multiple_of);
  for (std::uint64_t n = random.below(4); n > 1; --n) {
    rule.except.push_back(random_decimal(random, false));
  }
  return rule;
}

TEST(NumberLanguage, RandomRulesEqualTheirTwin) {
  const std::vector<std::string> texts = number_texts("-.e0159", 6);
  Random random(7);
  for (int i = 0; i < 80; ++i) {
    const NumberRule rule = random_rule(random);
    if (!NumberLanguage::make(rule).ok()) continue;
    compare_with_twin(rule, texts);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(NumberLanguage, ComparesNumbersBeyondEveryMachineType) {
  const auto word =
      language({.min = at("0"), .max = at("18446744073709551615"), .kind = Kind::kInteger});
  EXPECT_TRUE(accepts(*word, "18446744073709551615"));
  EXPECT_TRUE(accepts(*word, "18446744073709551615.00"));
  EXPECT_FALSE(accepts(*word, "18446744073709551616"));
  EXPECT_FALSE(accepts(*word, "-1"));
  EXPECT_TRUE(accepts(*word, "-0"));
  EXPECT_TRUE(accepts(*word, "1.844674e19"));
  EXPECT_FALSE(accepts(*word, "1.844675e19"));
  const auto huge = language({.max = at("1e308")});
  EXPECT_TRUE(accepts(*huge, "1" + std::string(308, '0')));
  EXPECT_FALSE(accepts(*huge, "1" + std::string(307, '0') + "1"));
  EXPECT_TRUE(accepts(*huge, "1e308"));
  EXPECT_FALSE(accepts(*huge, "1.0001e308"));
  EXPECT_TRUE(accepts(*huge, "-9e999"));
  const auto long_range = language({.min = beyond("12345678901234567890.5")});
  EXPECT_FALSE(accepts(*long_range, "12345678901234567890.50"));
  EXPECT_TRUE(accepts(*long_range, "12345678901234567890.500000000000000000001"));
}

TEST(NumberLanguage, LargeDivisorsAreExactOrRefused) {
  const auto made = NumberLanguage::make({.multiple_of = {decimal("123456789")}});
  ASSERT_FALSE(made.ok());
  EXPECT_FALSE(made.error().message.empty());
  EXPECT_FALSE(NumberLanguage::make({.multiple_of = {decimal("98765432109876543211")}}).ok());
  EXPECT_FALSE(NumberLanguage::make({.max = at("1e1000000")}).ok());
  const auto thousand = language({.multiple_of = {decimal("9999")}});
  EXPECT_TRUE(accepts(*thousand, "99990000"));
  EXPECT_FALSE(accepts(*thousand, "99990001"));
  EXPECT_TRUE(accepts(*thousand, "9999.0"));
  const auto small =
      language({.min = at("0"), .max = at("99"), .multiple_of = {decimal("123456789")}});
  EXPECT_TRUE(accepts(*small, "0"));
  EXPECT_FALSE(accepts(*small, "12"));
}

TEST(NumberLanguage, DigitsAloneAreTheIntegersThatAreWrittenSo) {
  NumberRule rule{.min = at("-12"), .max = at("1e3"), .kind = Kind::kInteger};
  const auto any = language(rule);
  rule.digits_alone = true;
  const auto alone = language(rule);
  for (const std::string& text : number_texts("-.0129e", 5)) {
    const bool digits = text.find_first_of(".e") == std::string::npos;
    EXPECT_EQ(accepts(*alone, text), digits && accepts(*any, text)) << text;
  }
  EXPECT_TRUE(accepts(*any, "1.0") && accepts(*any, "1e3"));
  EXPECT_TRUE(accepts(*alone, "1000") && accepts(*alone, "-12"));
}

TEST(NumberLanguage, IsEmptyWhenNothingSatisfies) {
  EXPECT_TRUE(language({.min = at("11"), .max = at("10")})->empty());
  EXPECT_TRUE(language({.min = beyond("1"), .max = beyond("2"), .kind = Kind::kInteger})->empty());
  EXPECT_TRUE(language({.kind = Kind::kInteger, .not_multiple_of = {decimal("1")}})->empty());
  EXPECT_TRUE(language({.min = at("0"), .max = at("0"), .except = {decimal("0")}})->empty());
  EXPECT_FALSE(language({.min = at("0"), .max = at("0")})->empty());
}

TEST(NumberLanguage, EndsAsShortAsPossible) {
  const auto numbers = language({.min = at("12"), .max = at("99"), .kind = Kind::kInteger});
  EXPECT_EQ(numbers->shortest_end(numbers->start()), "12");
  const std::uint32_t one = numbers->step(numbers->start(), '1');
  EXPECT_EQ(numbers->shortest_end(one), "2");
  EXPECT_EQ(numbers->shortest_end(numbers->step(one, '9')), "");
  const auto all = language({});
  EXPECT_EQ(all->shortest_end(all->start()), "0");
  EXPECT_EQ(all->shortest_end(all->step(all->start(), '-')), "0");
}

TEST(NumberLanguage, RefusesMoreExceptionsThanItCanCompareWith) {
  NumberRule rule{.kind = Kind::kInteger};
  for (int i = 0; i < 40'000; ++i) rule.except.push_back(decimal(std::to_string(7 * i)));
  EXPECT_FALSE(NumberLanguage::make(rule).ok());
}

TEST(NumberLanguage, ManyExceptionsStaySmall) {
  NumberRule rule{.kind = Kind::kInteger};
  for (int i = 0; i < 1000; ++i) rule.except.push_back(decimal(std::to_string(7 * i)));
  const auto numbers = language(rule);
  for (int i = 0; i < 7000; ++i) {
    ASSERT_EQ(accepts(*numbers, std::to_string(i)), i % 7 != 0) << i;
  }
  EXPECT_LT(numbers->states(), 20'000U);
}

}  // namespace
}  // namespace zerohop

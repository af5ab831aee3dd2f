#include "constrain/schema_numbers.h"

#include <utility>

#include "constrain/number_rule.h"
#include "constrain/schema_values.h"

namespace zerohop {
namespace {

// Keeps the tighter of two bounds; `side` is 1 for a lower one and -1 for an upper one.
void tighten(std::optional<NumberRule::Bound>& bound, const Decimal& value, bool exclusive,
             int side) {
  const int order = bound ? compare(value, bound->value) * side : 1;
  if (order > 0) bound = NumberRule::Bound{value, exclusive};
  if (order == 0) bound->exclusive |= exclusive;
}

// Where numbers that readers of JSON hold end, on either side.
Decimal last_of_readers(bool negative) { return {negative, "1", 99}; }

// Integers up to a bound of readers are as good as infinitely many, from a bound far from it on.
bool is_far(const std::optional<NumberRule::Bound>& bound) {
  constexpr std::int64_t kPlaceMax = 90;
  return bound && bound->value.place() > kPlaceMax;
}
bool is_of_readers(const std::optional<NumberRule::Bound>& bound, bool negative) {
  return bound && bound->value == last_of_readers(negative);
}

std::optional<std::uint64_t> values_of(const NumberRule& rule) {
  const bool endless = (is_of_readers(rule.max, false) && !is_far(rule.min)) ||
                       (is_of_readers(rule.min, true) && !is_far(rule.max)) ||
                       (is_of_readers(rule.min, true) && is_of_readers(rule.max, false));
  if (endless && rule.multiple_of.empty()) return UINT64_MAX;
  const bool bounded = rule.min && rule.max;
  if (bounded && rule.min->value == rule.max->value) return 1;
  const bool steps = rule.kind == NumberRule::Kind::kInteger || !rule.multiple_of.empty();
  if (!bounded || !steps) return UINT64_MAX;
  const bool plain =
      rule.multiple_of.empty() && rule.not_multiple_of.empty() && rule.except.empty();
  const auto low = small_integer(rule.min->value);
  const auto high = small_integer(rule.max->value);
  if (!plain || !low || !high) return std::nullopt;
  const std::int64_t first = *low + (rule.min->exclusive ? 1 : 0);
  const std::int64_t last = *high - (rule.max->exclusive ? 1 : 0);
  return last < first ? 0 : static_cast<std::uint64_t>(last - first) + 1;
}

struct NumberFacts {
  NumberRule rule;
  bool dead = false;
  std::vector<const std::vector<Decimal>*> enums;
};

void add_kind(NumberFacts& facts, bool integer) {
  const auto kind = integer ? NumberRule::Kind::kInteger : NumberRule::Kind::kFraction;
  facts.dead |= facts.rule.kind != NumberRule::Kind::kAny && facts.rule.kind != kind;
  facts.rule.kind = kind;
}

void add_fact(NumberFacts& facts, const SchemaRule& rule, bool holds) {
  constexpr int kLower = 1;
  constexpr int kUpper = -1;
  switch (rule.kind) {
    case RuleKind::kTypes:
      facts.rule.digits_alone |= holds && rule.digits_alone;
      return add_kind(facts, holds);
    case RuleKind::kMinimum:
      return holds ? tighten(facts.rule.min, rule.number, false, kLower)
                   : tighten(facts.rule.max, rule.number, true, kUpper);
    case RuleKind::kExclusiveMinimum:
      return holds ? tighten(facts.rule.min, rule.number, true, kLower)
                   : tighten(facts.rule.max, rule.number, false, kUpper);
    case RuleKind::kMaximum:
      return holds ? tighten(facts.rule.max, rule.number, false, kUpper)
                   : tighten(facts.rule.min, rule.number, true, kLower);
    case RuleKind::kExclusiveMaximum:
      return holds ? tighten(facts.rule.max, rule.number, true, kUpper)
                   : tighten(facts.rule.min, rule.number, false, kLower);
    case RuleKind::kMultipleOf:
      (holds ? facts.rule.multiple_of : facts.rule.not_multiple_of).push_back(rule.number);
      return;
    default: break;
  }
  const std::vector<Decimal>& values = rule.values->numbers;
  if (!holds) {
    facts.rule.except.insert(facts.rule.except.end(), values.begin(), values.end());
  } else {
    facts.rule.digits_alone |= rule.values->digits_alone;
    facts.enums.push_back(&values);
  }
}

// What satisfies() does about `value`: it looks through the exceptions and divides by hand.
std::size_t steps_of(const Decimal& value, const NumberRule& rule) {
  constexpr std::size_t kZerosPerDigit = 4;
  std::size_t steps = 1 + rule.except.size();
  for (const auto* divisors : {&rule.multiple_of, &rule.not_multiple_of}) {
    for (const Decimal& divisor : *divisors) {
      const std::size_t digits = divisor.digits.size();
      steps += digits * (value.digits.size() + kZerosPerDigit * digits);
    }
  }
  return steps;
}

// Multiples keep their range: how many of them there are decides whether items can differ.
void bound(NumberRule& rule) {
  if (!rule.multiple_of.empty()) return;
  const Decimal most = last_of_readers(false);
  const Decimal least = last_of_readers(true);
  if (!rule.max && (!rule.min || rule.min->value < most)) rule.max = NumberRule::Bound{most, false};
  if (!rule.min && rule.max->value > least) rule.min = NumberRule::Bound{least, false};
}

}  // namespace

std::vector<NumberRule> SchemaNumbers::rules(const SchemaFacts& facts) const {
  NumberFacts all;
  for (const SchemaFact& fact : facts) {
    add_fact(all, set_.rules[fact.rule], fact.part == SchemaFact::kHolds);
  }
  if (all.dead || !work_.charge(1 + all.rule.except.size())) return {};
  if (all.enums.empty()) {
    if (range_ == SchemaOptions::NumberRange::kOfReaders) bound(all.rule);
    return {all.rule};
  }
  std::vector<NumberRule> single;
  for (const Decimal& value : common_values(work_, all.enums)) {
    if (!work_.charge(steps_of(value, all.rule))) return {};
    if (!satisfies(value, all.rule)) continue;
    NumberRule& rule = single.emplace_back();
    rule.digits_alone = all.rule.digits_alone;
    rule.min = NumberRule::Bound{value, false};
    rule.max = rule.min;
  }
  return single;
}

std::shared_ptr<const NumberLanguage> SchemaNumbers::language(const NumberRule& rule,
                                                              const SchemaFacts& facts) {
  std::string key = key_of(rule);
  if (const auto known = languages_.find(key); known != languages_.end()) return known->second;
  auto made = NumberLanguage::make(rule);
  if (!made.ok()) {
    const SchemaRule& blame = set_.rules[facts.front().rule];
    work_.refuse(set_.refusal(SchemaRefusal::Kind::kTooLarge, {blame.owner, blame.keyword},
                              made.error().message));
    return nullptr;
  }
  std::shared_ptr<const NumberLanguage> language = std::move(made.value());
  memory_bytes_ += language->memory_bytes();
  constexpr std::size_t kExceptionsPerStep = 32;
  work_.charge(language->states() * (1 + rule.except.size() / kExceptionsPerStep));
  if (language->empty()) language = nullptr;
  if (language != nullptr) values_.emplace(language.get(), values_of(rule));
  languages_.emplace(std::move(key), language);
  return language;
}

std::optional<std::uint64_t> SchemaNumbers::values(const NumberLanguage& language) const {
  const auto known = values_.find(&language);
  return known == values_.end() ? UINT64_MAX : known->second;
}

}  // namespace zerohop

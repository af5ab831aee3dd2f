#include "constrain/schema_numbers.h"

#include <algorithm>
#include <utility>

namespace zerohop {
namespace {

// Keeps the tighter of two bounds; `side` is 1 for a lower one and -1 for an upper one.
void tighten(std::optional<NumberRule::Bound>& bound, const Decimal& value, bool exclusive,
             int side) {
  const int order = bound ? compare(value, bound->value) * side : 1;
  if (order > 0) bound = NumberRule::Bound{value, exclusive};
  if (order == 0) bound->exclusive |= exclusive;
}

void append(std::string& key, const std::vector<Decimal>& values) {
  for (const Decimal& value : values) key.append(to_text(value)).append(",");
  key += ';';
}

void append(std::string& key, const std::optional<NumberRule::Bound>& bound) {
  if (bound) key.append(bound->exclusive ? "x" : "i").append(to_text(bound->value));
  key += ';';
}

std::string key_of(const NumberRule& rule) {
  std::string key = std::to_string(static_cast<int>(rule.kind)) + ";";
  append(key, rule.min);
  append(key, rule.max);
  append(key, rule.multiple_of);
  append(key, rule.not_multiple_of);
  append(key, rule.except);
  return key;
}

bool is_plain(const NumberRule& rule) {
  return !rule.min && !rule.max && rule.multiple_of.empty() && rule.not_multiple_of.empty() &&
         rule.except.empty() && rule.kind != NumberRule::Kind::kFraction;
}

// The two languages that nearly every schema has. Immutable, so all threads share them.
std::shared_ptr<const NumberLanguage> plain_language(NumberRule::Kind kind) {
  static const auto make = [](NumberRule::Kind of) {
    NumberRule rule;
    rule.kind = of;
    auto made = NumberLanguage::make(rule);
    return made.ok() ? made.value() : nullptr;
  };
  static const std::shared_ptr<const NumberLanguage> any = make(NumberRule::Kind::kAny);
  static const std::shared_ptr<const NumberLanguage> integer = make(NumberRule::Kind::kInteger);
  return kind == NumberRule::Kind::kAny ? any : integer;
}

// A whole number of at most 18 digits.
std::optional<std::int64_t> small_integer(const Decimal& value) {
  constexpr std::int64_t kDigitsMax = 18;
  const auto digits = static_cast<std::int64_t>(value.digits.size());
  if (value.exponent < 0 || value.exponent > kDigitsMax || digits + value.exponent > kDigitsMax) {
    return std::nullopt;
  }
  std::int64_t number = 0;
  for (const char digit : value.digits) number = number * 10 + (digit - '0');
  for (std::int64_t i = 0; i < value.exponent; ++i) number *= 10;
  return value.negative ? -number : number;
}

std::optional<std::uint64_t> values_of(const NumberRule& rule) {
  const bool bounded = rule.min && rule.max;
  if (bounded && compare(rule.min->value, rule.max->value) == 0) return 1;
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
  const std::vector<Decimal>* values = nullptr;
  std::vector<const std::vector<Decimal>*> more_values;
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
    case RuleKind::kTypes: return add_kind(facts, holds);
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
  } else if (facts.values == nullptr) {
    facts.values = &values;
  } else {
    facts.more_values.push_back(&values);
  }
}

}  // namespace

std::vector<NumberRule> SchemaNumbers::rules(const SchemaFacts& facts) const {
  NumberFacts all;
  for (const SchemaFact& fact : facts) {
    add_fact(all, set_.rules[fact.rule], fact.part == SchemaFact::kHolds);
  }
  if (all.dead) return {};
  if (all.values == nullptr) return {all.rule};
  std::vector<NumberRule> single;
  for (const Decimal& value : *all.values) {
    const bool everywhere = std::all_of(
        all.more_values.begin(), all.more_values.end(), [&](const std::vector<Decimal>* more) {
          return std::find(more->begin(), more->end(), value) != more->end();
        });
    if (!work_.charge(1 + all.rule.except.size())) return {};
    if (!everywhere || !satisfies(value, all.rule)) continue;
    NumberRule& rule = single.emplace_back();
    rule.min = NumberRule::Bound{value, false};
    rule.max = rule.min;
  }
  return single;
}

std::shared_ptr<const NumberLanguage> SchemaNumbers::language(const NumberRule& rule,
                                                              const SchemaFacts& facts) {
  if (is_plain(rule)) return plain_language(rule.kind);
  std::string key = key_of(rule);
  if (const auto known = languages_.find(key); known != languages_.end()) return known->second;
  auto made = NumberLanguage::make(rule);
  if (!made.ok()) {
    const SchemaRule& blame = set_.rules[facts.front().rule];
    work_.refuse({SchemaRefusal::Kind::kTooLarge, set_.pointer(blame.owner),
                  std::string(blame.keyword), made.error().message});
    return nullptr;
  }
  std::shared_ptr<const NumberLanguage> language = std::move(made.value());
  memory_bytes_ += language->memory_bytes();
  work_.charge(language->states());
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

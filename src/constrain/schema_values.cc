#include "constrain/schema_values.h"

#include <algorithm>
#include <utility>

namespace zerohop {
namespace {

using Type = JsonNode::Type;

constexpr TypeSet kLiterals =
    type_bit(Type::kNull) | type_bit(Type::kFalse) | type_bit(Type::kTrue);

// [1,2]: {type: array, prefixItems: [{const: 1}, {const: 2}], items: false, minItems: 2}
SchemaId constant_array(SchemaLoading& loading, const JsonNode& value, SchemaId like) {
  std::vector<SchemaRule> rules(3);
  rules[0].kind = RuleKind::kTypes;
  rules[0].types = type_bit(Type::kArray);
  rules[1].kind = RuleKind::kMinItems;
  rules[1].least = static_cast<std::uint32_t>(value.items.size());
  rules[2].kind = RuleKind::kItems;
  rules[2].rest = kNeverSchema;
  for (const JsonNode& item : value.items) {
    rules[2].schemas.push_back(loading.constant(item, like));
  }
  if (value.items.empty()) rules.erase(rules.begin() + 1);
  for (SchemaRule& rule : rules) rule.keyword = "const";
  return loading.set.add(like, std::move(rules));
}

SchemaId constant_object(SchemaLoading& loading, const JsonNode& value, SchemaId like) {
  std::vector<SchemaRule> rules(3);
  rules[0].kind = RuleKind::kTypes;
  rules[0].types = type_bit(Type::kObject);
  rules[1].kind = RuleKind::kProperties;
  rules[1].rest = kNeverSchema;
  rules[2].kind = RuleKind::kRequired;
  for (const auto& [name, member] : value.members) {
    rules[1].names.push_back(name);
    rules[1].schemas.push_back(loading.constant(member, like));
    rules[2].names.push_back(name);
  }
  if (value.members.empty()) rules.pop_back();
  for (SchemaRule& rule : rules) rule.keyword = "const";
  return loading.set.add(like, std::move(rules));
}

// Of sorted values those that are there once.
template <class T>
void keep_single(std::vector<T>& values) {
  std::vector<T> kept;
  for (std::size_t i = 0; i < values.size();) {
    std::size_t end = i + 1;
    while (end < values.size() && values[i] == values[end]) ++end;
    if (end == i + 1) kept.push_back(std::move(values[i]));
    i = end;
  }
  values = std::move(kept);
}

// The scalars that a schema of types and values alone allows. False: it says more, or is about
// whole types.
bool append_scalars(const SchemaSet& set, SchemaId schema, ValueSet& out) {
  const SchemaPart& part = set.schemas[schema];
  TypeSet types = kAllTypes;
  const ValueSet* values = nullptr;
  bool integers = false;
  bool digits_alone = false;
  for (RuleId id = part.first_rule; id < part.first_rule + part.rules; ++id) {
    const SchemaRule& rule = set.rules[id];
    if (rule.kind == RuleKind::kTypes) {
      types = rule.types;
      integers = rule.integers;
      digits_alone = rule.digits_alone;
    } else if (rule.kind == RuleKind::kValues && values == nullptr) {
      values = rule.values.get();
    } else {
      return false;
    }
  }
  if (schema == kAlwaysSchema) return false;
  if (values == nullptr) {
    if ((types & ~kLiterals) != 0) return false;
    out.literals = types;
    return true;
  }
  if (!values->composites.empty()) return false;
  out.literals = static_cast<TypeSet>(values->literals & types);
  if ((types & type_bit(Type::kString)) != 0) out.strings = values->strings;
  if ((types & type_bit(Type::kNumber)) == 0) return true;
  for (const Decimal& number : values->numbers) {
    if (!integers || number.exponent >= 0) out.numbers.push_back(number);
  }
  out.digits_alone = !out.numbers.empty() && (digits_alone || values->digits_alone);
  return true;
}

}  // namespace

SchemaId SchemaLoading::constant(const JsonNode& value, SchemaId like) {
  if (value.is(Type::kArray)) return constant_array(*this, value, like);
  if (value.is(Type::kObject)) return constant_object(*this, value, like);
  auto values = std::make_shared<ValueSet>();
  if (!add_value(*this, value, like, *values)) {
    invalid(like, "const", "holds a number that is too large");
  }
  std::vector<SchemaRule> rules(1);
  rules[0].kind = RuleKind::kValues;
  rules[0].keyword = "const";
  rules[0].values = std::move(values);
  return set.add(like, std::move(rules));
}

bool add_value(SchemaLoading& loading, const JsonNode& value, SchemaId like, ValueSet& set) {
  if (value.is(Type::kString)) {
    set.strings.push_back(value.text);
  } else if (value.is(Type::kNumber)) {
    auto number = parse_decimal(value.text);
    if (!number.ok()) return false;
    set.numbers.push_back(std::move(number.value()));
  } else if (value.is(Type::kArray) || value.is(Type::kObject)) {
    set.composites.push_back(loading.constant(value, like));
  } else {
    set.literals = static_cast<TypeSet>(set.literals | type_bit(value.type));
  }
  return true;
}

void sort_values(ValueSet& set) {
  std::sort(set.strings.begin(), set.strings.end());
  set.strings.erase(std::unique(set.strings.begin(), set.strings.end()), set.strings.end());
  std::sort(set.numbers.begin(), set.numbers.end());
  set.numbers.erase(std::unique(set.numbers.begin(), set.numbers.end()), set.numbers.end());
}

std::shared_ptr<const ValueSet> united_values(const SchemaSet& set,
                                              const std::vector<SchemaId>& schemas,
                                              bool exactly_one) {
  auto all = std::make_shared<ValueSet>();
  TypeSet twice = 0;
  for (const SchemaId schema : schemas) {
    ValueSet one;
    if (!append_scalars(set, schema, one)) return nullptr;
    if (!one.numbers.empty()) {
      // One list says nothing of how each of its numbers is written.
      if (!all->numbers.empty() && all->digits_alone != one.digits_alone) return nullptr;
      all->digits_alone = one.digits_alone;
    }
    twice = static_cast<TypeSet>(twice | (all->literals & one.literals));
    all->literals = static_cast<TypeSet>(all->literals | one.literals);
    all->strings.insert(all->strings.end(), one.strings.begin(), one.strings.end());
    all->numbers.insert(all->numbers.end(), one.numbers.begin(), one.numbers.end());
  }
  if (exactly_one) {
    all->literals = static_cast<TypeSet>(all->literals & ~twice);
    std::sort(all->strings.begin(), all->strings.end());
    std::sort(all->numbers.begin(), all->numbers.end());
    keep_single(all->strings);
    keep_single(all->numbers);
  }
  sort_values(*all);
  return all;
}

}  // namespace zerohop

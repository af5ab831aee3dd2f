// Looks for contradictions that are easy to see: a value that is none of an enum's, bounds that
// cross, a required property whose value cannot be. It may miss some; it never finds one that is
// not there. That keeps the number of branches down; what is missed falls out later, when the form
// is checked for what can be satisfied at all.
#include <algorithm>
#include <map>

#include "constrain/schema_tableau_run.h"

namespace zerohop {
namespace {

using Type = JsonNode::Type;

// An enum among the facts.
struct EnumFact {
  const ValueSet* values;
  bool holds;
};

std::vector<EnumFact> enum_facts(const SchemaSet& set, const SchemaFacts& facts) {
  std::vector<EnumFact> enums;
  for (const SchemaFact& fact : facts) {
    const SchemaRule& rule = set.rules[fact.rule];
    if (rule.kind != RuleKind::kValues) continue;
    enums.push_back({rule.values.get(), fact.part == SchemaFact::kHolds});
  }
  return enums;
}

// Whether each value that an enum allows is ruled out: by another enum, or by `excluded`.
template <class T, class Excluded>
bool none_left(SchemaWork& work, const std::vector<EnumFact>& enums,
               const std::vector<T> ValueSet::*list, const Excluded& excluded) {
  const std::vector<T>* fewest = nullptr;
  for (const EnumFact& each : enums) {
    const std::vector<T>& values = each.values->*list;
    if (each.holds && (fewest == nullptr || values.size() < fewest->size())) fewest = &values;
  }
  if (fewest == nullptr) return false;
  const auto ruled_out = [&](const T& value) {
    return excluded(value) || std::any_of(enums.begin(), enums.end(), [&](const EnumFact& each) {
             const std::vector<T>& values = each.values->*list;
             return std::binary_search(values.begin(), values.end(), value) != each.holds;
           });
  };
  return std::all_of(fewest->begin(), fewest->end(),
                     [&](const T& value) { return work.charge(enums.size()) && ruled_out(value); });
}

}  // namespace

bool SchemaTableau::surely_empty(GoalId goal, int depth) {
  if (goal == kNoGoal) return true;
  if (depth < 0) return false;
  const std::uint64_t key =
      (static_cast<std::uint64_t>(goal) << 8U) | static_cast<std::uint64_t>(depth);
  if (const auto known = empty_.find(key); known != empty_.end()) return known->second;
  bool empty = true;
  for (int type = 0; type <= static_cast<int>(Type::kObject) && empty; ++type) {
    const auto json_type = static_cast<Type>(type);
    const auto branches = TableauRun(*this, json_type, TableauMode::kProbe, depth).run(goal);
    empty = std::all_of(branches.begin(), branches.end(), [&](const SchemaFacts& facts) {
      return contradict(facts, json_type, depth);
    });
  }
  if (work_.stopped()) return false;
  empty_.emplace(key, empty);
  return empty;
}

bool SchemaTableau::contradict(const SchemaFacts& facts, Type type, int depth) {
  if (!work_.charge(facts.size())) return false;
  switch (type) {
    case Type::kString: return strings_contradict(facts);
    case Type::kNumber: return numbers_contradict(facts);
    case Type::kArray: return arrays_contradict(facts, depth);
    case Type::kObject: return objects_contradict(facts, depth);
    default: return false;
  }
}

bool SchemaTableau::strings_contradict(const SchemaFacts& facts) const {
  CountRange length;
  for (const SchemaFact& fact : facts) {
    length.apply(set_.rules[fact.rule], fact.part == SchemaFact::kHolds);
  }
  if (length.empty()) return true;
  return none_left(work_, enum_facts(set_, facts), &ValueSet::strings,
                   [](const std::string&) { return false; });
}

bool SchemaTableau::numbers_contradict(const SchemaFacts& facts) const {
  const Decimal* least = nullptr;
  const Decimal* most = nullptr;
  for (const SchemaFact& fact : facts) {
    const SchemaRule& rule = set_.rules[fact.rule];
    const bool holds = fact.part == SchemaFact::kHolds;
    const bool minimum =
        rule.kind == RuleKind::kMinimum || rule.kind == RuleKind::kExclusiveMinimum;
    const bool maximum =
        rule.kind == RuleKind::kMaximum || rule.kind == RuleKind::kExclusiveMaximum;
    // Bounds without a look at whether they are exclusive: cautious.
    const bool lower = (minimum && holds) || (maximum && !holds);
    const bool upper = (maximum && holds) || (minimum && !holds);
    if (lower && (least == nullptr || rule.number > *least)) least = &rule.number;
    if (upper && (most == nullptr || rule.number < *most)) most = &rule.number;
  }
  if (least != nullptr && most != nullptr && *least > *most) return true;
  const auto out_of_bounds = [&](const Decimal& value) {
    return (least != nullptr && value < *least) || (most != nullptr && value > *most);
  };
  return none_left(work_, enum_facts(set_, facts), &ValueSet::numbers, out_of_bounds);
}

bool SchemaTableau::arrays_contradict(const SchemaFacts& facts, int depth) {
  CountRange length;
  std::size_t prefix = 0;
  for (const SchemaFact& fact : facts) {
    const SchemaRule& rule = set_.rules[fact.rule];
    const bool holds = fact.part == SchemaFact::kHolds;
    length.apply(rule, holds);
    if (rule.kind != RuleKind::kItems) continue;
    if (holds) prefix = std::max(prefix, rule.schemas.size());
    if (!holds) length.at_least(static_cast<std::uint64_t>(fact.part) + 1);
    if (holds && rule.rest == kNeverSchema) length.at_most(rule.schemas.size());
  }
  if (length.empty()) return true;
  constexpr std::size_t kItemsMax = 8;
  const std::size_t looked = std::min({prefix, static_cast<std::size_t>(length.least), kItemsMax});
  for (std::size_t i = 0; i < looked; ++i) {
    std::vector<SchemaLiteral> literals;
    for (const SchemaFact& fact : facts) {
      const SchemaRule& rule = set_.rules[fact.rule];
      if (rule.kind != RuleKind::kItems) continue;
      const bool inside = i < rule.schemas.size();
      const SchemaId schema = inside ? rule.schemas[i] : rule.rest;
      if (schema == kNoSchema) continue;
      if (fact.part == SchemaFact::kHolds) {
        literals.push_back(goals_.literal(schema, fact.scope, Sign::kHolds));
      } else if (inside && fact.part == static_cast<std::int32_t>(i)) {
        literals.push_back(goals_.literal(schema, fact.scope, Sign::kFails));
      }
    }
    if (surely_empty(goals_.goal(std::move(literals)), depth - 1)) return true;
  }
  return false;
}

// What the value of a property must satisfy, as far as `properties` and additionalProperties
// without patterns say.
GoalId SchemaTableau::value_goal(const SchemaFacts& facts, const std::string& name) {
  std::vector<SchemaLiteral> literals;
  for (const SchemaFact& fact : facts) {
    const SchemaRule& rule = set_.rules[fact.rule];
    if (rule.kind != RuleKind::kProperties) continue;
    work_.charge(1 + rule.names.size() / 8);
    const auto at = std::find(rule.names.begin(), rule.names.end(), name);
    const auto index = at - rule.names.begin();
    if (at != rule.names.end()) {
      const SchemaId schema = rule.schemas[static_cast<std::size_t>(index)];
      if (fact.part == SchemaFact::kHolds) {
        literals.push_back(goals_.literal(schema, fact.scope, Sign::kHolds));
      } else if (fact.part == index) {
        literals.push_back(goals_.literal(schema, fact.scope, Sign::kFails));
      }
    } else if (fact.part == SchemaFact::kHolds && rule.patterns.empty() && rule.rest != kNoSchema) {
      literals.push_back(goals_.literal(rule.rest, fact.scope, Sign::kHolds));
    }
  }
  return goals_.goal(std::move(literals));
}

bool SchemaTableau::objects_contradict(const SchemaFacts& facts, int depth) {
  std::map<std::string, int> there;  // bit 0: must be there, bit 1: must not
  constexpr int kThere = 1;
  constexpr int kNotThere = 2;
  for (const SchemaFact& fact : facts) {
    const SchemaRule& rule = set_.rules[fact.rule];
    const bool holds = fact.part == SchemaFact::kHolds;
    const auto part = static_cast<std::size_t>(std::max(fact.part, 0));
    if (rule.kind == RuleKind::kRequired) {
      if (!holds) there[rule.names[part]] |= kNotThere;
      for (const std::string& name : rule.names) {
        if (holds) there[name] |= kThere;
      }
    } else if (rule.kind == RuleKind::kDependentSchema) {
      there[rule.text] |= fact.part == SchemaFact::kAbsent ? kNotThere : kThere;
    } else if (rule.kind == RuleKind::kNeeds && !holds) {
      there[rule.text] |= kThere;
      there[rule.names[part]] |= kNotThere;
    } else if (rule.kind == RuleKind::kProperties && !holds && part < rule.names.size()) {
      there[rule.names[part]] |= kThere;
    }
  }
  return std::any_of(there.begin(), there.end(), [&](const auto& entry) {
    if (entry.second == (kThere | kNotThere)) return true;
    if (entry.second != kThere) return false;
    return surely_empty(value_goal(facts, entry.first), depth - 1);
  });
}

}  // namespace zerohop

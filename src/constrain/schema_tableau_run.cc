#include "constrain/schema_tableau_run.h"

#include <algorithm>

#include "base/check.h"

namespace zerohop {
namespace {

using Type = JsonNode::Type;

// More alternatives for one value than anybody could follow byte by byte.
constexpr std::size_t kBranchesMax = 10'000;
constexpr std::size_t kProbeBranchesMax = 48;
constexpr std::size_t kProbeWaysMax = 6;
constexpr std::int32_t kNobody = -1;

bool is_unevaluated(RuleKind kind) {
  return kind == RuleKind::kUnevaluatedItems || kind == RuleKind::kUnevaluatedProperties;
}

// A constant's array or object: of which type it is.
bool is_of_type(const SchemaSet& set, SchemaId composite, Type type) {
  const SchemaPart& part = set.schemas[composite];
  return (set.rules[part.first_rule].types & type_bit(type)) != 0;
}

}  // namespace

std::vector<SchemaFacts> TableauRun::run(GoalId goal) {
  SchemaBranch first;
  std::int32_t collector = kNobody;
  const bool strict = tableau_.options_.strict_objects && type_ == Type::kObject;
  if (strict && mode_ == TableauMode::kExact) {
    first.collectors.push_back(
        SchemaCollector{.strict = true, .names = {}, .patterns = {}, .contains = {}});
    collector = 0;
  }
  const std::vector<SchemaLiteral>& literals = goals_.literals(goal);
  Assumptions pending;
  for (auto at = literals.rbegin(); at != literals.rend(); ++at) {
    pending.push_back({*at, is_negated(*at) ? kNobody : collector});
  }
  assume(first, std::move(pending));
  if (!first.dead) stack_.push_back(std::move(first));
  std::vector<SchemaFacts> done;
  while (!stack_.empty()) {
    SchemaBranch branch = std::move(stack_.back());
    stack_.pop_back();
    if (!tableau_.work_.charge(branch.weight())) return {};
    if (finish(branch)) done.push_back(std::move(branch.facts));
    const std::size_t branches = done.size() + stack_.size();
    if (mode_ == TableauMode::kProbe && branches > kProbeBranchesMax) {
      return {SchemaFacts()};  // nothing is known
    }
    if (branches > kBranchesMax) {
      tableau_.work_.refuse(
          {SchemaRefusal::Kind::kTooLarge, "", "", "one value has more than 10,000 alternatives"});
      return {};
    }
  }
  return done;
}

bool TableauRun::finish(SchemaBranch& branch) {
  while (!branch.dead && branch.decided < branch.choices.size()) {
    const SchemaChoice choice = branch.choices[branch.decided++];
    auto open = ways(branch, choice);
    if (!open) continue;
    if (mode_ == TableauMode::kProbe && open->size() > kProbeWaysMax) continue;
    if (open->empty()) return false;
    if (open->size() == 1) {
      take(branch, open->front());
      continue;
    }
    for (auto way = open->rbegin(); way != open->rend(); ++way) {
      if (!tableau_.work_.charge(branch.weight())) return false;
      SchemaBranch copy = branch;
      take(copy, *way);
      const bool more = copy.decided < copy.choices.size();
      const bool look = !copy.dead && (more || branch.decided > 1);
      if (look && mode_ == TableauMode::kExact) {
        copy.dead = tableau_.contradict(copy.facts, type_, depth_);
      }
      if (!copy.dead) stack_.push_back(std::move(copy));
    }
    return false;
  }
  if (branch.dead) return false;
  if (mode_ == TableauMode::kExact) collect(branch);
  return !branch.dead;
}

void TableauRun::take(SchemaBranch& branch, Way& way) {
  if (way.fact) branch.facts.push_back(*way.fact);
  if (way.choice) branch.choices.push_back(*way.choice);
  Assumptions pending;
  if (way.option) apply(branch, way.negated, *way.option, pending);
  pending.insert(pending.end(), way.literals.begin(), way.literals.end());
  std::reverse(pending.begin(), pending.end());
  assume(branch, std::move(pending));
}

void TableauRun::assume(SchemaBranch& branch, Assumptions pending) {
  Assumptions next;
  while (!pending.empty() && !branch.dead) {
    const auto [literal, collector] = pending.back();
    pending.pop_back();
    if (literal == kTrueLiteral) continue;
    if (literal == kFalseLiteral || !tableau_.work_.charge(1 + branch.seen.size() / 64)) {
      branch.dead = true;
      return;
    }
    if (!branch.note(literal, collector)) continue;
    next.clear();
    if (is_negated(literal)) {
      assume_fails(branch, literal, next);
    } else {
      assume_holds(branch, literal, collector, next);
    }
    pending.insert(pending.end(), next.rbegin(), next.rend());
  }
}

void TableauRun::assume_holds(SchemaBranch& branch, SchemaLiteral literal, std::int32_t collector,
                              Assumptions& next) {
  const SchemaPart part = set_.schemas[goals_.schema(literal)];
  for (RuleId id = part.first_rule; id < part.first_rule + part.rules; ++id) {
    const SchemaRule& rule = set_.rules[id];
    if (!is_unevaluated(rule.kind) || !concerns(rule)) continue;
    SchemaCollector made;
    made.outer = collector;
    made.rule = id;
    made.scope = goals_.scope(literal);
    collector = static_cast<std::int32_t>(branch.collectors.size());
    branch.collectors.push_back(std::move(made));
  }
  assume_rules(branch, literal, collector, next);
}

void TableauRun::assume_rules(SchemaBranch& branch, SchemaLiteral literal, std::int32_t collector,
                              Assumptions& next) {
  const SchemaPart part = set_.schemas[goals_.schema(literal)];
  SchemaChoice context;
  context.scope = goals_.scope(literal);
  context.collector = collector;
  for (RuleId id = part.first_rule; id < part.first_rule + part.rules && !branch.dead; ++id) {
    assume_rule(branch, id, context, next);
  }
}

void TableauRun::assume_rule(SchemaBranch& branch, RuleId id, const SchemaChoice& context,
                             Assumptions& next) {
  const SchemaRule& rule = set_.rules[id];
  if (!concerns(rule) || is_unevaluated(rule.kind)) return;
  SchemaChoice choice = context;
  choice.rule = id;
  switch (rule.kind) {
    case RuleKind::kReference:
    case RuleKind::kAllOf:
      for (std::size_t i = 0; i < rule.schemas.size(); ++i) {
        next.push_back({child(rule, i, context.scope, Sign::kHolds), context.collector});
      }
      return;
    case RuleKind::kDynamicReference: {
      const SchemaId target = goals_.dynamic_target(rule, context.scope);
      next.push_back({goals_.literal(target, context.scope, Sign::kHolds), context.collector});
      return;
    }
    case RuleKind::kNot:
      next.push_back({child(rule, 0, context.scope, Sign::kFails), kNobody});
      return;
    case RuleKind::kAnyOf:
    case RuleKind::kOneOf:
    case RuleKind::kDependentSchema: branch.choices.push_back(choice); return;
    case RuleKind::kIf: {
      const bool silent = rule.schemas[1] == kAlwaysSchema && rule.schemas[2] == kAlwaysSchema;
      if (!silent || context.collector != kNobody) branch.choices.push_back(choice);
      return;
    }
    case RuleKind::kTypes:
      branch.dead |= (rule.types & type_bit(type_)) == 0;
      if (type_ == Type::kNumber && rule.integers) {
        branch.facts.push_back({id, context.scope, SchemaFact::kHolds});
      }
      return;
    case RuleKind::kValues: assume_values(branch, id, context, next); return;
    default: break;
  }
  branch.facts.push_back({id, context.scope, SchemaFact::kHolds});
  if (context.collector != kNobody) contribute(branch, context.collector, branch.facts.back());
}

void TableauRun::assume_values(SchemaBranch& branch, RuleId id, const SchemaChoice& context,
                               Assumptions& next) {
  const ValueSet& values = *set_.rules[id].values;
  if (type_ == Type::kString || type_ == Type::kNumber) {
    const bool none = type_ == Type::kString ? values.strings.empty() : values.numbers.empty();
    branch.dead |= none;
    branch.facts.push_back({id, context.scope, SchemaFact::kHolds});
    return;
  }
  if (type_ != Type::kArray && type_ != Type::kObject) {
    branch.dead |= !values.has(type_);
    return;
  }
  const auto count = std::count_if(values.composites.begin(), values.composites.end(),
                                   [&](SchemaId each) { return is_of_type(set_, each, type_); });
  if (count == 0) {
    branch.dead = true;
  } else if (count > 1) {
    SchemaChoice choice = context;
    choice.rule = id;
    branch.choices.push_back(choice);
  } else {
    for (const SchemaId each : values.composites) {
      if (!is_of_type(set_, each, type_)) continue;
      next.push_back({goals_.literal(each, context.scope, Sign::kHolds), context.collector});
    }
  }
}

void TableauRun::assume_fails(SchemaBranch& branch, SchemaLiteral literal, Assumptions& next) {
  const auto open = options(literal);
  if (!open) return;
  if (open->empty()) {
    branch.dead = true;
  } else if (open->size() == 1) {
    apply(branch, literal, open->front(), next);
  } else {
    SchemaChoice choice;
    choice.negated = literal;
    branch.choices.push_back(choice);
  }
}

std::optional<std::vector<SchemaOption>> TableauRun::options(SchemaLiteral negated) {
  const SchemaPart& part = set_.schemas[goals_.schema(negated)];
  std::vector<SchemaOption> open;
  bool satisfied = false;
  for (RuleId id = part.first_rule; id < part.first_rule + part.rules && !satisfied; ++id) {
    if (concerns(set_.rules[id])) append_options(id, open, satisfied);
  }
  if (satisfied) return std::nullopt;
  return open;
}

void TableauRun::append_options(RuleId id, std::vector<SchemaOption>& to, bool& satisfied) {
  const SchemaRule& rule = set_.rules[id];
  std::size_t parts = 1;
  switch (rule.kind) {
    case RuleKind::kAllOf: parts = rule.schemas.size(); break;
    case RuleKind::kOneOf: parts = 1 + rule.schemas.size() * (rule.schemas.size() - 1) / 2; break;
    case RuleKind::kIf: parts = 2; break;
    case RuleKind::kTypes:
      satisfied = (rule.types & type_bit(type_)) == 0;
      parts = type_ == Type::kNumber && rule.integers ? 1 : 0;
      break;
    case RuleKind::kValues: {
      const ValueSet& values = *rule.values;
      if (type_ == Type::kString) {
        satisfied = values.strings.empty();
      } else if (type_ == Type::kNumber) {
        satisfied = values.numbers.empty();
      } else if (type_ == Type::kArray || type_ == Type::kObject) {
        satisfied = std::none_of(values.composites.begin(), values.composites.end(),
                                 [&](SchemaId each) { return is_of_type(set_, each, type_); });
      } else {
        satisfied = !values.has(type_);
        parts = 0;
      }
      break;
    }
    case RuleKind::kContains: parts = rule.most == kNoBound ? 1 : 2; break;
    case RuleKind::kItems:
    case RuleKind::kProperties:
      parts = rule.schemas.size() + (rule.rest == kNoSchema ? 0 : 1);
      break;
    case RuleKind::kRequired:
    case RuleKind::kNeeds: parts = rule.names.size(); break;
    default: break;
  }
  if (!tableau_.work_.charge(1 + parts)) parts = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    to.push_back({id, static_cast<std::int32_t>(part)});
  }
}

// The part of the rule fails; `next` gets what follows for other schemas.
void TableauRun::apply(SchemaBranch& branch, SchemaLiteral negated, const SchemaOption& option,
                       Assumptions& next) {
  const SchemaRule& rule = set_.rules[option.rule];
  const ScopeId scope = goals_.scope(negated);
  const auto part = static_cast<std::size_t>(option.part);
  const auto fails = [&](std::size_t i) {
    next.push_back({child(rule, i, scope, Sign::kFails), kNobody});
  };
  const auto holds = [&](std::size_t i) {
    next.push_back({child(rule, i, scope, Sign::kHolds), kNobody});
  };
  switch (rule.kind) {
    case RuleKind::kReference:
    case RuleKind::kAllOf: return fails(part);
    case RuleKind::kDynamicReference:
      next.push_back(
          {goals_.literal(goals_.dynamic_target(rule, scope), scope, Sign::kFails), kNobody});
      return;
    case RuleKind::kAnyOf:
      for (std::size_t i = 0; i < rule.schemas.size(); ++i) fails(i);
      return;
    case RuleKind::kOneOf: {
      if (part == 0) {
        for (std::size_t i = 0; i < rule.schemas.size(); ++i) fails(i);
        return;
      }
      std::size_t left = part - 1;
      std::size_t first = 0;
      while (left >= rule.schemas.size() - 1 - first) left -= rule.schemas.size() - 1 - first++;
      holds(first);
      return holds(first + 1 + left);
    }
    case RuleKind::kNot: return holds(0);
    case RuleKind::kIf:
      if (part == 0) {
        holds(0);
      } else {
        fails(0);
      }
      return fails(part + 1);
    case RuleKind::kValues:
      if (type_ == Type::kArray || type_ == Type::kObject) {
        for (const SchemaId each : rule.values->composites) {
          next.push_back({goals_.literal(each, scope, Sign::kFails), kNobody});
        }
        return;
      }
      break;
    case RuleKind::kDependentSchema:
      branch.facts.push_back({option.rule, scope, SchemaFact::kPresent});
      return fails(0);
    case RuleKind::kUnevaluatedItems:
    case RuleKind::kUnevaluatedProperties: {
      SchemaCollector made;
      made.fails = true;
      made.rule = option.rule;
      made.scope = scope;
      branch.collectors.push_back(std::move(made));
      const auto collector = static_cast<std::int32_t>(branch.collectors.size()) - 1;
      return assume_rules(branch, negated, collector, next);
    }
    default: break;
  }
  branch.facts.push_back({option.rule, scope, option.part});
}

std::optional<std::vector<TableauRun::Way>> TableauRun::ways(const SchemaBranch& branch,
                                                             const SchemaChoice& choice) {
  if (choice.negated == kTrueLiteral) {
    std::vector<Way> open = rule_ways(branch, choice);
    for (const Way& way : open) {
      const bool free = std::all_of(way.literals.begin(), way.literals.end(),
                                    [](const auto& each) { return each.literal == kTrueLiteral; });
      if (free && !way.fact && !way.choice) return std::nullopt;
    }
    std::erase_if(open, [](const Way& way) {
      return std::any_of(way.literals.begin(), way.literals.end(),
                         [](const auto& each) { return each.literal == kFalseLiteral; });
    });
    return open;
  }
  auto open = options(choice.negated);
  if (!open) return std::nullopt;
  if (mode_ == TableauMode::kProbe || implied(branch, choice.negated)) return std::nullopt;
  std::vector<Way> made;
  for (const SchemaOption& option : *open) {
    Way& way = made.emplace_back();
    way.option = option;
    way.negated = choice.negated;
  }
  return made;
}

// What the branch has settled cannot hold together with the schema, so the negation says nothing
// new. Only facts count: schemas of the branch may be what demands the negation in the first place.
bool TableauRun::implied(const SchemaBranch& branch, SchemaLiteral negated) {
  const GoalId goal = goals_.goal({negated ^ 1U});
  if (goal == kNoGoal) return true;
  const std::vector<SchemaFacts> ways =
      TableauRun(tableau_, type_, TableauMode::kProbe, depth_).run(goal);
  return std::all_of(ways.begin(), ways.end(), [&](const SchemaFacts& facts) {
    SchemaFacts together = branch.facts;
    together.insert(together.end(), facts.begin(), facts.end());
    return tableau_.contradict(together, type_, depth_);
  });
}

std::vector<TableauRun::Way> TableauRun::rule_ways(const SchemaBranch& branch,
                                                   const SchemaChoice& choice) {
  const SchemaRule& rule = set_.rules[choice.rule];
  std::vector<Way> open;
  if (rule.kind == RuleKind::kValues) {
    for (const SchemaId each : rule.values->composites) {
      if (!is_of_type(set_, each, type_)) continue;
      open.emplace_back().literals = {
          {goals_.literal(each, choice.scope, Sign::kHolds), choice.collector}};
    }
    return open;
  }
  if (rule.kind == RuleKind::kDependentSchema) {
    open.resize(2);
    open[0].fact = SchemaFact{choice.rule, choice.scope, SchemaFact::kAbsent};
    open[1].fact = SchemaFact{choice.rule, choice.scope, SchemaFact::kPresent};
    open[1].literals = {{child(rule, 0, choice.scope, Sign::kHolds), choice.collector}};
    return open;
  }
  if (rule.kind == RuleKind::kIf) {
    open.resize(2);
    open[0].literals = {{child(rule, 0, choice.scope, Sign::kHolds), choice.collector},
                        {child(rule, 1, choice.scope, Sign::kHolds), choice.collector}};
    open[1].literals = {{child(rule, 0, choice.scope, Sign::kFails), kNobody},
                        {child(rule, 2, choice.scope, Sign::kHolds), choice.collector}};
    return open;
  }
  return combination_ways(branch, choice);
}

// anyOf and oneOf.
std::vector<TableauRun::Way> TableauRun::combination_ways(const SchemaBranch& branch,
                                                          const SchemaChoice& choice) {
  const SchemaRule& rule = set_.rules[choice.rule];
  const auto collector = static_cast<std::size_t>(choice.collector);
  const bool tracked = choice.collector != kNobody && !branch.collectors[collector].strict;
  std::vector<Way> open;
  if (tracked && rule.kind == RuleKind::kAnyOf && mode_ == TableauMode::kExact) {
    if (choice.next == rule.schemas.size()) {
      if (choice.satisfied) open.emplace_back();
      return open;
    }
    open.resize(2);
    for (const std::size_t way : {0, 1}) {
      const Sign sign = way == 0 ? Sign::kHolds : Sign::kFails;
      open[way].literals = {
          {child(rule, choice.next, choice.scope, sign), way == 0 ? choice.collector : kNobody}};
      open[way].choice = choice;
      open[way].choice->next = choice.next + 1;
      open[way].choice->satisfied |= way == 0;
    }
    return open;
  }
  const bool one = rule.kind == RuleKind::kOneOf && mode_ == TableauMode::kExact;
  if (one) tableau_.work_.charge(rule.schemas.size() * rule.schemas.size());
  for (std::size_t i = 0; i < rule.schemas.size() && !tableau_.work_.stopped(); ++i) {
    Way way;
    way.literals.push_back({child(rule, i, choice.scope, Sign::kHolds), choice.collector});
    if (way.literals[0].literal == kFalseLiteral) continue;
    for (std::size_t j = 0; one && j < rule.schemas.size(); ++j) {
      if (j == i) continue;
      way.literals.push_back({child(rule, j, choice.scope, Sign::kFails), kNobody});
    }
    open.push_back(std::move(way));
  }
  return open;
}

}  // namespace zerohop

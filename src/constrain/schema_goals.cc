#include "constrain/schema_goals.h"

#include <algorithm>

namespace zerohop {
namespace {

// Schemas that `rule` applies to the same value.
void append_in_place(const SchemaSet& set, const SchemaRule& rule, std::vector<SchemaId>& to) {
  const bool in_place = types_of(rule.kind) == kAllTypes || rule.kind == RuleKind::kDependentSchema;
  if (!in_place) return;
  to.insert(to.end(), rule.schemas.begin(), rule.schemas.end());
  if (rule.kind != RuleKind::kDynamicReference) return;
  for (const SchemaResource& resource : set.resources) {
    for (const auto& [name, schema] : resource.dynamic_anchors) {
      if (name == rule.text) to.push_back(schema);
    }
  }
}

struct Visit {
  SchemaId schema;
  std::vector<SchemaId> next;
};

Visit visit(const SchemaSet& set, SchemaId schema) {
  Visit made{schema, {}};
  const SchemaPart& part = set.schemas[schema];
  for (RuleId id = part.first_rule; id < part.first_rule + part.rules; ++id) {
    append_in_place(set, set.rules[id], made.next);
  }
  return made;
}

}  // namespace

SchemaId find_endless_reference(const SchemaSet& set) {
  enum : std::uint8_t { kNew, kOpen, kDone };
  std::vector<std::uint8_t> color(set.schemas.size(), kNew);
  std::vector<Visit> stack;  // not the call stack: a chain of references may be long
  for (SchemaId first = 0; first < set.schemas.size(); ++first) {
    if (color[first] != kNew) continue;
    color[first] = kOpen;
    stack.push_back(visit(set, first));
    while (!stack.empty()) {
      Visit& top = stack.back();
      if (top.next.empty()) {
        color[top.schema] = kDone;
        stack.pop_back();
        continue;
      }
      const SchemaId next = top.next.back();
      top.next.pop_back();
      if (color[next] == kOpen) return next;
      if (color[next] == kDone) continue;
      color[next] = kOpen;
      stack.push_back(visit(set, next));
    }
  }
  return kNoSchema;
}

SchemaGoals::SchemaGoals(SchemaSet& set, SchemaWork& work) : set_(set), work_(work), scopes_(1) {
  scope_ids_.emplace(Scope(), 0);
  place(kAlwaysSchema, 0);
}

ScopeId SchemaGoals::enter(ScopeId scope, std::uint32_t resource) {
  if (!set_.dynamic) return 0;
  Scope wider = scopes_[scope];
  for (const auto& [name, schema] : set_.resources[resource].dynamic_anchors) {
    const bool known = std::any_of(wider.begin(), wider.end(),
                                   [&](const auto& entry) { return entry.first == name; });
    if (!known) wider.emplace_back(name, schema);
  }
  std::sort(wider.begin(), wider.end());
  const auto [found, added] = scope_ids_.emplace(wider, static_cast<ScopeId>(scopes_.size()));
  if (added) scopes_.push_back(std::move(wider));
  return found->second;
}

SchemaId SchemaGoals::dynamic_target(const SchemaRule& rule, ScopeId scope) const {
  for (const auto& [name, schema] : scopes_[scope]) {
    if (name == rule.text) return schema;
  }
  return rule.schemas[0];
}

std::uint32_t SchemaGoals::place(SchemaId schema, ScopeId scope) {
  const std::uint64_t key = (static_cast<std::uint64_t>(scope) << 32U) | schema;
  const auto [found, added] = place_ids_.emplace(key, static_cast<std::uint32_t>(places_.size()));
  if (added) places_.emplace_back(schema, scope);
  return found->second;
}

SchemaLiteral SchemaGoals::literal(SchemaId schema, ScopeId scope, Sign sign) {
  for (;;) {
    const SchemaPart& part = set_.schemas[schema];
    scope = enter(scope, part.resource);
    if (part.rules != 1) break;
    const SchemaRule& rule = set_.rules[part.first_rule];
    if (rule.kind == RuleKind::kReference) {
      schema = rule.schemas[0];
    } else if (rule.kind == RuleKind::kDynamicReference) {
      schema = dynamic_target(rule, scope);
    } else {
      break;
    }
    if (!work_.charge()) return kFalseLiteral;
  }
  const std::uint32_t negated = sign == Sign::kFails ? 1 : 0;
  if (schema == kNeverSchema) return kFalseLiteral ^ negated;
  if (set_.schemas[schema].rules == 0) return kTrueLiteral ^ negated;
  return place(schema, scope) * 2 + negated;
}

GoalId SchemaGoals::goal(std::vector<SchemaLiteral> literals) {
  std::sort(literals.begin(), literals.end());
  literals.erase(std::unique(literals.begin(), literals.end()), literals.end());
  for (std::size_t i = 0; i < literals.size(); ++i) {
    if (literals[i] == kFalseLiteral) return kNoGoal;
    if (i > 0 && literals[i - 1] == (literals[i] ^ 1U)) return kNoGoal;
  }
  if (!literals.empty() && literals[0] == kTrueLiteral) literals.erase(literals.begin());
  if (const auto found = goal_ids_.find(literals); found != goal_ids_.end()) return found->second;
  const auto id = static_cast<GoalId>(goals_.size());
  goals_.push_back(literals);
  goal_ids_.emplace(std::move(literals), id);
  return id;
}

std::size_t SchemaGoals::Hash::operator()(const std::vector<SchemaLiteral>& literals) const {
  std::uint64_t hash = 0x9E3779B97F4A7C15U;
  for (const SchemaLiteral literal : literals) {
    hash = (hash ^ literal) * 0xFF51AFD7ED558CCDU;
    hash ^= hash >> 32U;
  }
  return static_cast<std::size_t>(hash);
}

}  // namespace zerohop

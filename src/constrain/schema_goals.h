// Goals: what a value must satisfy at once, as a set of schemas that hold or do not hold.
//
// A literal is a schema, in the dynamic scope in which it was reached, with a sign. A goal is a
// sorted set of literals; equal sets are the same goal, so a recursive schema has finitely many,
// and the goals become the nodes of the form. One compilation, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "constrain/schema_rules.h"
#include "constrain/schema_work.h"

namespace zerohop {

/// Twice a place, plus one when the schema must not hold.
using SchemaLiteral = std::uint32_t;
inline constexpr SchemaLiteral kTrueLiteral = 0;
inline constexpr SchemaLiteral kFalseLiteral = 1;
inline constexpr bool is_negated(SchemaLiteral literal) { return (literal & 1U) != 0; }

enum class Sign : std::uint8_t { kHolds, kFails };

using GoalId = std::uint32_t;
inline constexpr GoalId kNoGoal = UINT32_MAX;  ///< nothing satisfies it, seen at once

/// Which dynamic anchors are in scope. 0: none, and always so where no reference is dynamic.
using ScopeId = std::uint32_t;

class SchemaGoals {
 public:
  SchemaGoals(SchemaSet& set, SchemaWork& work);

  /// A schema that consists of a reference alone is replaced by its target.
  SchemaLiteral literal(SchemaId schema, ScopeId scope, Sign sign);
  SchemaId schema(SchemaLiteral literal) const { return places_[literal / 2].first; }
  ScopeId scope(SchemaLiteral literal) const { return places_[literal / 2].second; }

  /// Where a dynamic reference leads.
  SchemaId dynamic_target(const SchemaRule& rule, ScopeId scope) const;

  /// Sorts and removes duplicates; kNoGoal for a contradiction.
  GoalId goal(std::vector<SchemaLiteral> literals);
  const std::vector<SchemaLiteral>& literals(GoalId goal) const { return goals_[goal]; }

 private:
  using Scope = std::vector<std::pair<std::string, SchemaId>>;
  struct Hash {
    std::size_t operator()(const std::vector<SchemaLiteral>& literals) const;
  };

  ScopeId enter(ScopeId scope, std::uint32_t resource);
  std::uint32_t place(SchemaId schema, ScopeId scope);

  SchemaSet& set_;
  SchemaWork& work_;
  std::vector<std::pair<SchemaId, ScopeId>> places_;
  std::unordered_map<std::uint64_t, std::uint32_t> place_ids_;
  std::vector<Scope> scopes_;
  std::map<Scope, ScopeId> scope_ids_;
  std::vector<std::vector<SchemaLiteral>> goals_;
  std::unordered_map<std::vector<SchemaLiteral>, GoalId, Hash> goal_ids_;
};

/// A schema that leads to itself without a step into the value (`$ref: "#"` at the root) means
/// nothing; kNoSchema when there is none.
SchemaId find_endless_reference(const SchemaSet& set);

}  // namespace zerohop

// All ways in which a value of one JSON type can satisfy a goal, each as a list of plain facts.
//
// The schemas of a goal are taken apart until only facts about the type are left: what holds is
// added, negations are pushed inwards, and where a schema offers a choice (anyOf, oneOf, if, a
// negated conjunction) the branch splits. This is an analytic tableau: a branch is a conjunction of
// facts, and the union of all branches is the goal, exactly.
//
//   {type: object, required: [a], oneOf: [{required: [b]}, {required: [c]}]}    of objects:
//     required a ∧ required b ∧ ¬(required c)   →  facts: a, b there; c not there
//     required a ∧ ¬(required b) ∧ required c   →  facts: a, c there; b not there
//
// What may explode is kept down in three ways: a branch dies as soon as a type, a value or a
// required property contradicts (schema_probe.cc looks ahead, cautiously: it may miss a
// contradiction but never invents one); a negation that the rest of the branch implies is dropped
// (so oneOf over alternatives that exclude each other costs nothing); and everything is counted.
//
// unevaluatedProperties and unevaluatedItems: a collector notes, per branch, what the other
// keywords evaluate. For that it must be known of every alternative of an anyOf whether it holds,
// so there the branch splits into all combinations. One compilation, one thread.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "constrain/schema_goals.h"
#include "constrain/schema_rules.h"
#include "constrain/schema_work.h"

namespace zerohop {

/// A rule that holds or does not. Rules that say several things (properties, required, items) are
/// negated one thing at a time: `part` says which.
struct SchemaFact {
  static constexpr std::int32_t kHolds = -1;
  static constexpr std::int32_t kAbsent = -2;   ///< the property `text` is not there
  static constexpr std::int32_t kPresent = -3;  ///< it is

  RuleId rule = 0;
  ScopeId scope = 0;
  std::int32_t part = kHolds;
  friend auto operator<=>(const SchemaFact&, const SchemaFact&) = default;
};

using SchemaFacts = std::vector<SchemaFact>;

struct TableauOptions {
  bool strict_objects = false;
};

class SchemaTableau {
 public:
  SchemaTableau(SchemaSet& set, SchemaGoals& goals, SchemaWork& work, TableauOptions options);

  /// The branches; none of them contains another. Empty: no value of the type satisfies the goal.
  std::vector<SchemaFacts> expand(GoalId goal, JsonNode::Type type);

  /// No value satisfies `goal`, found out without much effort; false: perhaps some does.
  bool surely_empty(GoalId goal, int depth);

 private:
  friend class TableauRun;

  // The facts exclude each other, as far as can be seen easily.
  bool contradict(const SchemaFacts& facts, JsonNode::Type type, int depth);
  bool strings_contradict(const SchemaFacts& facts) const;
  bool numbers_contradict(const SchemaFacts& facts) const;
  bool arrays_contradict(const SchemaFacts& facts, int depth);
  bool objects_contradict(const SchemaFacts& facts, int depth);
  GoalId value_goal(const SchemaFacts& facts, const std::string& name);

  SchemaSet& set_;
  SchemaGoals& goals_;
  SchemaWork& work_;
  const TableauOptions options_;
  std::unordered_map<std::uint64_t, bool> empty_;      // by goal and depth
  std::unordered_map<std::string, RuleId> synthetic_;  // rules made of unevaluated keywords
};

}  // namespace zerohop

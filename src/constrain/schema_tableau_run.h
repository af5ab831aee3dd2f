// One expansion: the work list of schema_tableau.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "constrain/schema_branch.h"
#include "constrain/schema_tableau.h"

namespace zerohop {

/// kProbe: quickly, for a superset; decisions are left out where there are many ways.
enum class TableauMode : std::uint8_t { kExact, kProbe };

/// A literal to be made true, and the collector that learns what it evaluates (-1: nobody).
struct Assumption {
  SchemaLiteral literal = kTrueLiteral;
  std::int32_t collector = -1;
};
using Assumptions = std::vector<Assumption>;

class TableauRun {
 public:
  TableauRun(SchemaTableau& tableau, JsonNode::Type type, TableauMode mode, int depth)
      : tableau_(tableau),
        set_(tableau.set_),
        goals_(tableau.goals_),
        type_(type),
        mode_(mode),
        depth_(depth) {}

  std::vector<SchemaFacts> run(GoalId goal);

 private:
  // What one way of a decision adds to the branch.
  struct Way {
    Assumptions literals;
    std::optional<SchemaFact> fact;
    std::optional<SchemaOption> option;  // of `negated`
    SchemaLiteral negated = kTrueLiteral;
    std::optional<SchemaChoice> choice;
  };

  bool concerns(const SchemaRule& rule) const {
    return (types_of(rule.kind) & type_bit(type_)) != 0;
  }
  SchemaLiteral child(const SchemaRule& rule, std::size_t index, ScopeId scope, Sign sign) {
    return goals_.literal(rule.schemas[index], scope, sign);
  }

  void assume(SchemaBranch& branch, Assumptions pending);
  void assume_holds(SchemaBranch& branch, SchemaLiteral literal, std::int32_t collector,
                    Assumptions& next);
  void assume_rules(SchemaBranch& branch, SchemaLiteral literal, std::int32_t collector,
                    Assumptions& next);
  void assume_rule(SchemaBranch& branch, RuleId id, const SchemaChoice& context, Assumptions& next);
  void assume_values(SchemaBranch& branch, RuleId id, const SchemaChoice& context,
                     Assumptions& next);
  void assume_fails(SchemaBranch& branch, SchemaLiteral literal, Assumptions& next);
  void apply(SchemaBranch& branch, SchemaLiteral negated, const SchemaOption& option,
             Assumptions& next);
  void contribute(SchemaBranch& branch, std::int32_t collector, const SchemaFact& fact);

  // Ways to make `negated` true; nothing: it is true already.
  std::optional<std::vector<SchemaOption>> options(SchemaLiteral negated);
  void append_options(RuleId id, std::vector<SchemaOption>& to, bool& satisfied);

  // Ways to decide; nothing: it needs no decision.
  std::optional<std::vector<Way>> ways(const SchemaBranch& branch, const SchemaChoice& choice);
  std::vector<Way> rule_ways(const SchemaBranch& branch, const SchemaChoice& choice);
  std::vector<Way> combination_ways(const SchemaBranch& branch, const SchemaChoice& choice);
  bool implied(const SchemaBranch& branch, SchemaLiteral negated);

  // Decides until the branch is finished (true) or dead; what else is possible goes on the stack.
  bool finish(SchemaBranch& branch);
  void take(SchemaBranch& branch, Way& way);
  void collect(SchemaBranch& branch);
  void collect_properties(SchemaBranch& branch, const SchemaCollector& collector);
  void collect_items(SchemaBranch& branch, const SchemaCollector& collector);

  SchemaTableau& tableau_;
  SchemaSet& set_;
  SchemaGoals& goals_;
  const JsonNode::Type type_;
  const TableauMode mode_;
  const int depth_;
  std::vector<SchemaBranch> stack_;
};

}  // namespace zerohop

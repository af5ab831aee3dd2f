// One branch of a tableau: what has been found out and what is still to be decided.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "constrain/schema_tableau.h"

namespace zerohop {

/// What has been evaluated of a value, for an unevaluated… keyword.
struct SchemaCollector {
  std::int32_t outer = -1;  ///< whom this one reports to
  bool strict = false;      ///< of TableauOptions::strict_objects; there is no keyword then
  bool fails = false;       ///< the keyword must not hold
  bool all = false;         ///< everything is evaluated
  RuleId rule = 0;          ///< the keyword
  ScopeId scope = 0;
  std::vector<std::string> names;
  std::vector<std::string> patterns;
  std::uint32_t prefix = 0;          ///< so many items
  std::vector<SchemaFact> contains;  ///< and all that these match
};

/// A decision that is still open.
struct SchemaChoice {
  SchemaLiteral negated = kTrueLiteral;  ///< a negated literal; kTrueLiteral: it is about `rule`
  RuleId rule = 0;
  ScopeId scope = 0;
  std::int32_t collector = -1;
  std::uint32_t next = 0;  ///< of an anyOf whose members are decided one by one: the next one
  bool satisfied = false;  ///< … one of those before it holds
};

struct SchemaBranch {
  SchemaFacts facts;
  std::vector<std::uint64_t> seen;  ///< literals with their collector, sorted
  std::vector<SchemaChoice> choices;
  std::size_t decided = 0;  ///< choices in front of this one are done
  std::vector<SchemaCollector> collectors;
  bool dead = false;

  std::size_t weight() const {
    return 4 + facts.size() + seen.size() + choices.size() - decided + 8 * collectors.size();
  }
  /// False: it was there. Kills the branch when the opposite was there.
  bool note(SchemaLiteral literal, std::int32_t collector) {
    const std::uint64_t key = key_of(literal, collector);
    const auto at = std::lower_bound(seen.begin(), seen.end(), key);
    if (at != seen.end() && *at == key) return false;
    seen.insert(at, key);
    const auto opposite = std::lower_bound(seen.begin(), seen.end(), key_of(literal ^ 1U, -1));
    dead |= opposite != seen.end() && (*opposite >> 32U) == (literal ^ 1U);
    return true;
  }

 private:
  static std::uint64_t key_of(SchemaLiteral literal, std::int32_t collector) {
    return (static_cast<std::uint64_t>(literal) << 32U) | static_cast<std::uint32_t>(collector + 1);
  }
};

/// A way to make a negated schema true: a rule of it, and which of its parts fails.
struct SchemaOption {
  RuleId rule = 0;
  std::int32_t part = 0;
};

}  // namespace zerohop

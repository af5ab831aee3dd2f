// A JSON Schema brought into the form that can be followed from left to right.
//
// Every schema is a union of alternatives, each of one JSON type with rules of that type alone:
// allOf, anyOf, oneOf, not, if, $ref and keywords beside keywords are gone. Every node and
// every alternative is satisfiable; what was not has been cut away together with all that needed
// it. Nodes refer to each other by number, so recursion is a cycle.
//
// Made by schema_compiler.h. Immutable after compilation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "constrain/content_automaton.h"
#include "constrain/number_language.h"

namespace zerohop {

using SchemaNodeId = std::uint32_t;

struct NullForm {};

struct BooleanForm {
  bool allows_false = true;
  bool allows_true = true;
};

struct NumberForm {
  std::shared_ptr<const NumberLanguage> language;
};

struct StringForm {
  std::shared_ptr<ContentAutomaton> content;  ///< of the decoded text
};

/// A value that may stand at a place, and the counters that it moves by one.
struct ValueChoice {
  SchemaNodeId node = 0;
  std::uint32_t hits = 0;  ///< bit i: counts for counters[i]
};

/// How many values of an array or object must count. The choices of a place that differ in their
/// hits exclude each other, so the value itself decides which one it is.
struct FormCounter {
  std::uint32_t min = 0;
  std::uint32_t max = UINT32_MAX;
};

/// contains, minContains, negated items, and the like are counters.
struct ArrayForm {
  std::vector<std::vector<ValueChoice>> prefix;  ///< of item i; empty: no array is that long
  std::vector<ValueChoice> rest;                 ///< of all further items; empty: there are none
  std::uint32_t items_min = 0;
  std::uint32_t items_max = UINT32_MAX;
  std::vector<FormCounter> counters;  ///< at most 32
  bool unique = false;                ///< all items differ; then all are scalars
  std::uint32_t unique_rule = 0;      ///< the compiler's rule that says so, for its refusals
};

struct ObjectForm {
  struct Property {
    std::string name;  ///< decoded
    std::vector<ValueChoice> value;
    bool required = false;
    /// Indices into `declared`: with this property these must be there as well.
    std::vector<std::uint32_t> needs;
  };
  /// Names that are none of `declared`. The languages of two classes do not overlap.
  struct NameClass {
    std::shared_ptr<ContentAutomaton> names;
    std::vector<ValueChoice> value;
  };
  std::vector<Property> declared;  ///< in the order of generation; names differ
  std::vector<NameClass> others;   ///< behind the declared ones, in any order; names never repeat
  std::uint32_t properties_min = 0;
  std::uint32_t properties_max = UINT32_MAX;
  std::vector<FormCounter> counters;  ///< at most 32
};

using SchemaAlternative =
    std::variant<NullForm, BooleanForm, NumberForm, StringForm, ArrayForm, ObjectForm>;

/// Bytes that it takes, automata and number languages left aside.
std::size_t memory_of(const SchemaAlternative& alternative);

struct SchemaForm {
  /// Of each node: its alternatives, at least one. They may overlap.
  std::vector<std::vector<SchemaAlternative>> nodes;
  static constexpr SchemaNodeId kRoot = 0;
  /// Bytes of the shortest (canonical, compact) document of each node.
  std::vector<std::uint32_t> shortest_bytes;
  std::size_t memory_bytes = 0;
  std::size_t work = 0;  ///< that its compilation took, as SchemaLimits::work_max counts it
};

}  // namespace zerohop

// Builds the form: one node per goal, its branches merged into alternatives.
//
// Begins with the goal of the whole document; merging arrays and objects asks for the goals of
// their items and values, which become further nodes, until there are none. What comes out may
// still hold nodes that nothing satisfies; schema_trim.h cuts those away. One compilation, one
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "constrain/schema_form.h"
#include "constrain/schema_goals.h"
#include "constrain/schema_numbers.h"
#include "constrain/schema_tableau.h"
#include "constrain/schema_texts.h"

namespace zerohop {

/// A predicate whose values a counter counts, at a place where they may stand.
struct SchemaWitness {
  SchemaLiteral predicate = kTrueLiteral;
  std::uint32_t counter = 0;
};

class SchemaBuilder {
 public:
  SchemaBuilder(SchemaSet& set, SchemaWork& work, const SchemaOptions& options);

  /// All nodes; node 0 is the document. Meaningless once the work is stopped.
  std::vector<std::vector<SchemaAlternative>> build();

  // --- For the mergers of arrays and objects.

  SchemaSet& set() { return set_; }
  SchemaWork& work() { return work_; }
  SchemaGoals& goals() { return goals_; }
  SchemaTexts& texts() { return texts_; }
  /// The node of a goal, made later when it is new.
  SchemaNodeId node(GoalId goal);
  /// What may stand where all of `literals` hold, told apart by which counters it moves. Empty:
  /// nothing, seen at once.
  std::vector<ValueChoice> choices(const std::vector<SchemaLiteral>& literals,
                                   const std::vector<SchemaWitness>& witnesses,
                                   const SchemaBlame& blame);
  /// The strings that satisfy a schema.
  RegexTerm string_term(SchemaLiteral literal);
  void refuse(SchemaRefusal::Kind kind, const SchemaBlame& blame, std::string reason);
  /// Appends an alternative that an array or object amounts to. False: the work is stopped, perhaps
  /// because all of them are too large together.
  bool append(SchemaAlternative alternative, std::vector<SchemaAlternative>& to);
  /// How many values a language of this builder has: UINT64_MAX for infinitely many, nothing where
  /// that is not known.
  std::optional<std::uint64_t> number_values(const NumberLanguage& language) const {
    return numbers_.values(language);
  }
  std::size_t memory_bytes() const { return texts_.memory_bytes() + numbers_.memory_bytes(); }

 private:
  // Refuses what has grown too large.
  bool within_limits();
  std::vector<SchemaAlternative> alternatives(GoalId goal);
  void append_literals(GoalId goal, std::vector<SchemaAlternative>& to);
  void append_numbers(GoalId goal, std::vector<SchemaAlternative>& to);
  void append_strings(GoalId goal, std::vector<SchemaAlternative>& to);
  SchemaBlame blame_of(const SchemaFacts& facts, JsonNode::Type type) const;

  SchemaSet& set_;
  SchemaWork& work_;
  const SchemaOptions& options_;
  SchemaGoals goals_;
  SchemaTableau tableau_;
  SchemaTexts texts_;
  SchemaNumbers numbers_;
  std::unordered_map<GoalId, SchemaNodeId> nodes_;
  std::vector<GoalId> queue_;   // goal of each node
  std::size_t form_bytes_ = 0;  // of arrays and objects so far
  std::unordered_map<SchemaLiteral, RegexTerm> string_terms_;
};

/// Appends the alternatives (mostly one) that the facts of one branch amount to.
void merge_array(SchemaBuilder& builder, const SchemaFacts& facts,
                 std::vector<SchemaAlternative>& to);
void merge_object(SchemaBuilder& builder, const SchemaFacts& facts,
                  std::vector<SchemaAlternative>& to);

}  // namespace zerohop

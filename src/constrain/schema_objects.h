// The facts about an object, merged. Two steps: reading the facts into names, patterns and
// counters, and then laying out the declared properties and the classes of other names.
//
// A name that any keyword mentions is declared. All other names fall into classes by which patterns
// they match:
//
//   patternProperties {"^a": A, "b$": B}, additionalProperties C
//   classes:  ^a and b$ → A ∧ B     ^a only → A     b$ only → B     neither → C
//
// "Some property fails" (a negated additionalProperties, …) is a counter over the properties whose
// names it is about, of which one must count. One compilation, one thread.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "constrain/schema_builder.h"

namespace zerohop {

class ObjectMerge {
 public:
  ObjectMerge(SchemaBuilder& builder, const SchemaFacts& facts)
      : builder_(builder), set_(builder.set()), facts_(facts) {}

  void run(std::vector<SchemaAlternative>& to);

 private:
  enum class Presence : std::uint8_t { kFree, kRequired, kForbidden };
  struct Name {
    std::string text;
    std::u32string word;
    std::vector<bool> matches;            // of terms_
    std::vector<SchemaLiteral> literals;  // from negated properties
    std::vector<ValueChoice> value;
  };
  // A `properties` rule that holds.
  struct Properties {
    const SchemaRule* rule = nullptr;
    ScopeId scope = 0;
    std::unordered_map<std::string, std::size_t> index;  // into rule->names
    std::vector<std::size_t> terms;                      // of rule->patterns
  };
  // One property whose name is in the domain must satisfy the predicate.
  struct Exists {
    SchemaLiteral predicate = kTrueLiteral;
    std::vector<std::size_t> outside;    // terms that its names do not match
    std::vector<std::size_t> inside;     // terms that they match
    const SchemaRule* except = nullptr;  // its declared names are outside
  };
  struct Need {
    std::uint32_t name;
    std::uint32_t needed;
  };

  void declare_properties();
  void read(const SchemaFact& fact);
  void read_failing_property(const SchemaRule& rule, const SchemaFact& fact);
  void add_exists(Exists exists);
  std::uint32_t declare(const std::string& name);
  std::size_t term_of(const std::string& pattern, const SchemaRule& rule);
  std::size_t add_term(RegexTerm term);
  void demand(std::uint32_t name, Presence presence);

  bool in_domain(const Exists& exists, const std::vector<bool>& matches,
                 const std::string* name) const;
  std::vector<SchemaWitness> witnesses(const std::vector<bool>& matches,
                                       const std::string* name) const;
  // What all rules say about a value whose name matches so; nullptr: a name that is not declared.
  void append_literals(const std::vector<bool>& matches, const std::string* name,
                       std::vector<SchemaLiteral>& to);
  void fill_declared();
  void fill_others();
  void split_class(std::size_t term, std::vector<bool>& matches, std::vector<RegexTerm>& terms);
  void finish_class(const std::vector<bool>& matches, std::vector<RegexTerm> terms);

  // Follows `needs` from what is required; false: a contradiction.
  bool settle(std::vector<Presence>& presence) const;
  void emit(std::vector<Presence> presence, std::vector<SchemaAlternative>& to);
  ObjectForm assemble(const std::vector<Presence>& presence) const;

  SchemaLiteral literal(SchemaId schema, ScopeId scope, Sign sign) {
    return builder_.goals().literal(schema, scope, sign);
  }

  SchemaBuilder& builder_;
  SchemaSet& set_;
  const SchemaFacts& facts_;
  SchemaBlame blame_;
  bool dead_ = false;
  CountRange count_;
  std::vector<Name> names_;
  std::unordered_map<std::string, std::uint32_t> name_index_;
  std::vector<Presence> presence_;
  std::vector<Need> needs_;
  std::vector<RegexTerm> terms_;       // patterns, and negated propertyNames
  std::vector<RegexTerm> name_terms_;  // that all names must be in
  std::vector<Properties> properties_;
  std::vector<Exists> exists_;
  std::vector<ObjectForm::NameClass> others_;
};

}  // namespace zerohop

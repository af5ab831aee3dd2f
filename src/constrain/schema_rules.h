// A JSON Schema read into rules: what every keyword demands, checked for its form, with all
// references resolved. The step between the JSON text and the algebra.
//
// A schema is a list of rules that all hold. Sub-schemas are numbers, so a recursive schema is a
// cycle. Values of `const` and `enum` that are arrays or objects are turned into schemas that only
// they satisfy, so nothing behind this file knows about JSON values.
//
// Filled by schema_loader.h; the algebra adds rules of its own (`unevaluatedItems` becomes `items`
// once it is known what has been evaluated). One compilation owns it, one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "constrain/schema_compiler.h"
#include "constrain/schema_document.h"

namespace zerohop {

/// A schema of the document, or one made for a constant.
using SchemaId = std::uint32_t;
using RuleId = std::uint32_t;

inline constexpr SchemaId kAlwaysSchema = 0;  ///< `true`
inline constexpr SchemaId kNeverSchema = 1;   ///< `false`
inline constexpr SchemaId kNoSchema = UINT32_MAX;
inline constexpr std::uint32_t kNoBound = UINT32_MAX;

/// Bits of JsonNode::Type.
using TypeSet = std::uint8_t;
inline constexpr TypeSet type_bit(JsonNode::Type type) {
  return static_cast<TypeSet>(1U << static_cast<unsigned>(type));
}
inline constexpr TypeSet kAllTypes = 0x7F;

/// Values that `enum`, `const`, or a union of such allow.
struct ValueSet {
  TypeSet literals = 0;              ///< of null, false, true
  std::vector<std::string> strings;  ///< sorted, all different
  std::vector<Decimal> numbers;      ///< sorted, all different
  bool digits_alone = false;         ///< these numbers are integers that are written so
  std::vector<SchemaId> composites;  ///< arrays and objects
  bool has(JsonNode::Type type) const { return (literals & type_bit(type)) != 0; }
};

enum class RuleKind : std::uint8_t {
  // About the same value, of any type.
  kReference,         ///< schemas[0]
  kDynamicReference,  ///< schemas[0], unless the dynamic scope knows `text` (an anchor)
  kAllOf,
  kAnyOf,
  kOneOf,
  kNot,    ///< schemas[0]
  kIf,     ///< schemas: if, then, else (the last two kAlwaysSchema where absent)
  kTypes,  ///< types, and integers alone among numbers where `integers`
  kValues,
  // Numbers.
  kMinimum,
  kExclusiveMinimum,
  kMaximum,
  kExclusiveMaximum,
  kMultipleOf,
  // Strings.
  kMinLength,
  kMaxLength,
  kPattern,  ///< text
  kFormat,   ///< text
  // Arrays.
  kMinItems,
  kMaxItems,
  kUniqueItems,
  kContains,          ///< schemas[0]; least, most
  kItems,             ///< schemas: the first items; rest
  kUnevaluatedItems,  ///< schemas[0]
  // Objects.
  kMinProperties,
  kMaxProperties,
  kRequired,               ///< names
  kNeeds,                  ///< text: a property; names: the ones that it needs
  kDependentSchema,        ///< text: a property; schemas[0]
  kProperties,             ///< schemas: of names, then of patterns; rest
  kPropertyNames,          ///< schemas[0]
  kUnevaluatedProperties,  ///< schemas[0]
};

/// The type that a rule of this kind is about; kAllTypes for the first group.
TypeSet types_of(RuleKind kind);

struct SchemaRule {
  RuleKind kind = RuleKind::kAllOf;
  SchemaId owner = kAlwaysSchema;
  std::string_view keyword;  ///< static text, for refusals
  TypeSet types = kAllTypes;
  bool integers = false;
  bool digits_alone = false;      ///< of these integers: 1.0 is none, as in draft 4
  std::uint32_t least = 0;        ///< of counting rules: the bound of minLength and so on
  std::uint32_t most = kNoBound;  ///< the bound of maxLength and so on
  Decimal number;
  std::string text;
  std::vector<SchemaId> schemas;
  std::vector<std::string> names;
  std::vector<std::string> patterns;
  SchemaId rest = kNoSchema;  ///< of further items or properties; kNoSchema: nothing is said
  std::shared_ptr<const ValueSet> values;
};

/// How many characters, items or properties there may be.
struct CountRange {
  std::uint64_t least = 0;
  std::uint64_t most = kNoBound;

  bool empty() const { return least > most; }
  void at_least(std::uint64_t count) { least = std::max(least, count); }
  void at_most(std::uint64_t count) { most = std::min(most, count); }
  /// Narrows it by a rule (minLength, maxItems, …) that holds or does not. False: the rule is none
  /// of these.
  bool apply(const SchemaRule& rule, bool holds);
};

/// Whose fault a refusal is.
struct SchemaBlame {
  SchemaId schema = kAlwaysSchema;
  std::string_view keyword;  ///< static text
};

/// A part of the document with an identifier of its own.
struct SchemaResource {
  std::string uri;  ///< absolute where the document says so; without fragment
  SchemaId root = kAlwaysSchema;
  SchemaDraft draft = SchemaDraft::k2020;
  bool validates = true;  ///< false: its meta-schema leaves the validation vocabulary out
  std::vector<std::pair<std::string, SchemaId>> dynamic_anchors;
};

struct SchemaPart {
  SchemaId parent = kNoSchema;
  std::string step;  ///< from the parent, as JSON pointer: "/properties/a"
  std::uint32_t resource = 0;
  RuleId first_rule = 0;
  std::uint32_t rules = 0;
};

struct SchemaSet {
  std::deque<SchemaPart> schemas;  // grows while references to parts are held
  std::deque<SchemaRule> rules;
  std::vector<SchemaResource> resources;
  SchemaId root = kAlwaysSchema;
  bool dynamic = false;  ///< some reference depends on the dynamic scope

  SchemaSet();
  std::string pointer(SchemaId schema) const;
  /// With the pointer of whom it blames.
  SchemaRefusal refusal(SchemaRefusal::Kind kind, const SchemaBlame& blame,
                        std::string reason) const;
  /// A schema with these rules, in place of `like` (its pointer and resource).
  SchemaId add(SchemaId like, std::vector<SchemaRule> made);
};

}  // namespace zerohop

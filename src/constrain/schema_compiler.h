// From a JSON Schema text to a form that can be followed from left to right.
//
// Exact or refused: a keyword that cannot be represented is an error with its place, never dropped.
// Annotations (title, default, examples, …) are ignored, as the specification of JSON Schema says.
// Bounded in time and memory by `SchemaLimits`, whatever the schema.
//
// Any thread (workers, in the server): calls share nothing but languages that many schemas have,
// behind a lock or made once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "constrain/schema_document.h"
#include "constrain/schema_form.h"

namespace zerohop {

enum class SchemaDraft : std::uint8_t { k4, k6, k7, k2019, k2020 };

struct SchemaLimits {
  JsonLimits json;
  std::size_t nodes_max = 50'000;     ///< of the form
  std::size_t work_max = 20'000'000;  ///< elementary operations; stands for time
  std::size_t memory_max = 64 << 20;
};

/// A schema that a `$ref` may lead to by its URI. Nothing is ever fetched.
struct KnownSchema {
  std::string uri;
  std::string text;
};

struct SchemaOptions {
  SchemaDraft draft = SchemaDraft::k2020;  ///< where the schema has no $schema
  bool assert_formats = true;              ///< false: format is an annotation
  /// How `type: integer` is written. Most readers of JSON make a float of 1.0 and 1e0, so whoever
  /// generates documents wants digits alone; both are integers to JSON Schema since draft 6.
  enum class Integers : std::uint8_t { kAnySpelling, kDigitsAlone };
  Integers integers = Integers::kAnySpelling;
  /// Where numbers without bounds lie. Most readers of JSON make an infinity of 1e999, and Python's
  /// refuses an integer of 4,301 digits; kOfReaders is within 10^99 of zero. (Multiples stay as
  /// they are.)
  enum class NumberRange : std::uint8_t { kAny, kOfReaders };
  NumberRange numbers = NumberRange::kAny;
  bool strict_objects = false;     ///< objects that say nothing about further properties have none
  std::vector<KnownSchema> known;  ///< parsed only when a reference leads there
  SchemaLimits limits;
};

/// Why a schema is not compiled.
struct SchemaRefusal {
  enum class Kind : std::uint8_t {
    kInvalid,        ///< not a JSON Schema: wrong types, broken references, not JSON
    kUnsupported,    ///< a keyword that cannot be exact
    kUnsatisfiable,  ///< no document satisfies it
    kTooLarge,       ///< beyond the limits
  };
  Kind kind = Kind::kInvalid;
  std::string pointer;   ///< JSON pointer to the schema that holds the keyword: "", "/properties/a"
  std::string keyword;   ///< empty where it is not one keyword's fault
  std::string reason;    ///< a sentence without a full stop
  std::size_t work = 0;  ///< elementary operations that it took to find out
};

/// "invalid", "unsupported", "unsatisfiable" or "too_large".
std::string_view refusal_kind_name(SchemaRefusal::Kind kind);

using CompiledSchema = std::variant<std::shared_ptr<const SchemaForm>, SchemaRefusal>;

CompiledSchema compile_schema(std::string_view schema_text, const SchemaOptions& options = {});

}  // namespace zerohop

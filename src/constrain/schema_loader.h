// From a JSON Schema text to rules: reads every keyword, checks its form, and resolves all
// references ($id, $anchor, $dynamicAnchor, JSON pointers, known documents).
//
// Drafts: a keyword counts from the draft on that brought it; older spellings (definitions, items
// as an array, additionalItems, dependencies, boolean exclusiveMinimum) are understood everywhere.
// Up to draft 7 a $ref hides the keywords beside it, as these drafts say.
//
// Any thread; no state between calls.
#pragma once

#include <string_view>
#include <variant>

#include "constrain/schema_compiler.h"
#include "constrain/schema_rules.h"

namespace zerohop {

/// The options' `known` must live during the call only.
std::variant<SchemaSet, SchemaRefusal> load_schema(std::string_view text,
                                                   const SchemaOptions& options);

}  // namespace zerohop

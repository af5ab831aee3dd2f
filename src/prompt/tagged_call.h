// The arguments of calls in tagged form (ToolSyntaxKind::kTagged) as parts of a tag machine:
//
//   <parameter=city>⏎Oslo⏎</parameter>⏎<parameter=days>⏎3⏎</parameter>⏎
//
// Parameters come in the order of the schema, required ones always, others perhaps; none that the
// schema does not name. A string stands as it is, with any bytes but the mark that ends it; a value
// of another kind is JSON. What a form of tags cannot say exactly is told, and left open: strings
// with a pattern or a length, values that may be strings or something else, rules about which
// parameters go together. A mark inside of a string inside of JSON ends the value for a reader; no
// rule keeps it out.
//
// Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "constrain/tag_machine.h"
#include "prompt/answer_constraint.h"
#include "prompt/tool_syntax.h"

namespace zerohop {

struct TaggedArgumentsGrammar {
  std::vector<TagPart> parts;
  bool exact = true;
  std::string pointer;  ///< where not: to the schema that is not enforced
};

/// `text` is the schema that `schema` was made of; its root has an object.
TaggedArgumentsGrammar tagged_arguments_of(const ToolSyntax& syntax, const SchemaMachine& schema,
                                           std::string_view text);

/// Anything up to the end of the call.
std::vector<TagPart> free_tagged_arguments(const ToolSyntax& syntax);

/// The properties of an object's schema that can only be strings: those that say so themselves.
std::vector<std::string> string_parameters(std::string_view schema);

}  // namespace zerohop

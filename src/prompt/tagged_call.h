// The arguments of calls in tagged form (ToolSyntaxKind::kTagged) as parts of a tag machine:
//
//   <parameter=city>⏎Oslo⏎</parameter>⏎<parameter=days>⏎3⏎</parameter>⏎
//
// Parameters come in the order of the schema, required ones always, others perhaps; none that the
// schema does not name. A string stands as it is, with any bytes but the mark that ends it; a value
// of another kind is JSON, in whose strings that mark means nothing. Which of the two it is, reader
// and grammar know from the schema (parameter_kinds.h), so all that can be written can be read.
//
// What a form of tags cannot say exactly is told. It is left open (strings with a pattern or a
// length, values that may be strings or something else, rules about which parameters go together)
// or left out (parameters in whose names the mark behind a name stands).
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
  std::string reason;   ///< why not
};

/// `text` is the schema that `schema` was made of; its root has an object.
TaggedArgumentsGrammar tagged_arguments_of(const ToolSyntax& syntax, const SchemaMachine& schema,
                                           std::string_view text);

/// Any number of parameters with any names and values.
std::vector<TagPart> free_tagged_arguments(const ToolSyntax& syntax);

}  // namespace zerohop

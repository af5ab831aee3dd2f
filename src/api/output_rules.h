// What an answer must look like, as both dialects read it: a JSON Schema, a pattern, a grammar, a
// list of choices, JSON at all.
//
// Read here is the form only; whether a schema or a grammar can be followed is found out by who
// compiles it, and said at OutputRules::field. Sizes are bounded (core/limits.h). Internal to api/;
// pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "api/json_place.h"
#include "core/content.h"
#include "core/error.h"
#include "core/request.h"

namespace zerohop {

/// What a format that does not say `strict` means: the Messages API enforces or refuses, the OpenAI
/// API allows that less is enforced.
enum class StrictByDefault : std::uint8_t { kYes, kNo };

/// A JSON Schema: an object, or true. A string is read as the text of one.
Result<OutputRules> schema_rules(const JsonPlace& schema);
/// An ECMA-262 pattern that the answer matches as a whole; not empty.
Result<OutputRules> pattern_rules(const JsonPlace& pattern);
/// GBNF or Lark (constrain/grammar_syntax.h); not empty.
Result<OutputRules> grammar_rules(const JsonPlace& grammar);
/// An array of texts, at least one, none empty.
Result<OutputRules> choice_rules(const JsonPlace& choices);

/// `{"type": …}`, with what belongs to the type in any of these members:
///
///   text
///   json_object   (llama-server, TGI: schema, value)
///   json          schema, value                        of TGI and TensorRT-LLM
///   json_schema   json_schema.schema, schema, value;  strict beside the schema
///   regex         pattern, regex, value
///   grammar       grammar, value
///   ebnf          ebnf, grammar
///   choice        choices, choice, value
///
/// Without a type the member `regex`, `grammar` or `choices` says it.
Result<OutputRules> parse_output_format(const JsonPlace& format, StrictByDefault absent);

/// Collects the rules of one request from the places where it may have them: one at most.
class OutputRulesOf {
 public:
  /// Rules read at `place`; without a format nothing happens. An error that names both places when
  /// there are others already, unless they are the same rules (clients send them under an old and a
  /// new name).
  Result<void> take(const JsonPlace& place, OutputRules rules);

  OutputRules release() { return std::move(rules_); }

 private:
  OutputRules rules_;
  std::string place_;
};

/// Stop sequences and soft caps end an answer anywhere, so that no form could be promised: an error
/// where the request has them beside `rules`.
Result<void> refuse_cuts(const JsonPlace& body, const OutputRules& rules,
                         const GenerationParameters& generation);

}  // namespace zerohop

// How an answer must look, and whether the model thinks before it: `response_format` and its
// relatives, `reasoning_effort` and its relatives.
// Internal to api/. Pure functions; any thread.
#pragma once

#include "api/json_place.h"
#include "api/parse_options.h"
#include "core/content.h"
#include "core/error.h"

namespace zerohop {

/// `response_format` of a chat or completions request (output_rules.h has its types), and the
/// fields by which users of other servers say the same:
///
///   llama-server   json_schema, grammar
///   vLLM           guided_json, guided_json_object, guided_regex, guided_choice, guided_grammar;
///                  structured_outputs with json, json_object, regex, choice or grammar
///   SGLang         json_schema, regex, ebnf
///
/// An empty text is none, as some clients send them all. Two different ones are an error that names
/// both. Structural tags are refused by name.
Result<OutputRules> parse_openai_output_rules(const JsonPlace& body);

/// The same with `text.format`, which the Responses API has in place of `response_format`.
Result<OutputRules> parse_responses_output_rules(const JsonPlace& body);

/// The first of these that is present: `chat_template_kwargs.enable_thinking`,
/// `chat_template_kwargs.thinking`, `enable_thinking`, `thinking.type`, `reasoning.effort`,
/// `reasoning.enabled`, `reasoning_effort`. An effort of none or minimal is off, every other named
/// one is on; an unknown one leaves the default, or is an error when strict.
Result<ThinkingMode> parse_openai_thinking(const JsonPlace& body, const ParseOptions& options);

}  // namespace zerohop

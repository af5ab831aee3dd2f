// How an answer must look, and whether the model thinks before it: `response_format` and its
// relatives, `reasoning_effort` and its relatives.
// Internal to api/. Pure functions; any thread.
#pragma once

#include "api/json_place.h"
#include "api/parse_options.h"
#include "core/content.h"
#include "core/error.h"

namespace zerohop {

/// `{"type": "text" | "json_object" | "json_schema", …}`: of the chat API with the schema in
/// `json_schema.schema`, of the Responses API with it in `schema` (llama-server also takes that one
/// for json_object).
Result<OutputRules> parse_openai_format(const JsonPlace& format);

/// `response_format` of a chat or completions request. Without it the fields by which llama-server
/// and vLLM take a schema: `json_schema`, `guided_json`, `structured_outputs.json`. Grammars and
/// patterns are refused by name.
Result<OutputRules> parse_openai_output_rules(const JsonPlace& body);

/// The first of these that is present: `chat_template_kwargs.enable_thinking`,
/// `chat_template_kwargs.thinking`, `enable_thinking`, `thinking.type`, `reasoning.effort`,
/// `reasoning.enabled`, `reasoning_effort`. An effort of none or minimal is off, every other named
/// one is on; an unknown one leaves the default, or is an error when strict.
Result<ThinkingMode> parse_openai_thinking(const JsonPlace& body, const ParseOptions& options);

}  // namespace zerohop

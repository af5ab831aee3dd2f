// Tools of the OpenAI dialect: definitions, choice, and arguments of earlier calls.
//
// A function may come in any of three shapes: nested (chat), flat (responses), and bare as the
// Messages API writes it. Tools that the vendor runs, and custom tools, which take free text, can
// not be offered: they are left out, so that an agent that brings one among its functions still
// works; strict refuses them. `defer_loading` is ignored, since the search that would bring such a
// tool in is the vendor's too. `live_arguments` beside a function's name is our own.
// Internal to api/. Pure functions; any thread. Source: Chat Completions API and Responses API.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/json_place.h"
#include "api/parse_options.h"
#include "core/content.h"
#include "core/error.h"

namespace zerohop {

struct OpenAiTools {
  std::vector<ToolDefinition> tools;
  ToolChoice choice;
  /// The client wrote `functions`, the older form: it reads one call a turn, in the older shape.
  bool legacy_functions = false;
};

/// `tools`, `tool_choice`, `parallel_tool_calls`; without `tools` also `functions` and
/// `function_call`. A choice of `allowed_tools` leaves only these. Without tools the choice means
/// nothing and is not looked at unless strict.
Result<OpenAiTools> parse_openai_tools(const JsonPlace& body, const ParseOptions& options);

/// Arguments of a call as clients give them back, a string that holds JSON: the object, compact.
/// Nothing and an empty string are {}; a text that is no object becomes {"arguments": TEXT}, so
/// that what a model once wrote never makes a conversation unusable. An object is taken as it is.
Result<std::string> parse_openai_arguments(const JsonPlace& call, std::string_view key);

/// {"input": TEXT}: the free text that a custom tool was called with, as an object.
std::string openai_custom_input(std::string_view text);

}  // namespace zerohop

// `input` of a responses request → typed turns.
//
//   item                                      turn       content
//   message: system, developer                system     where it stands
//   message: user                             user       text and documents
//   message: assistant, reasoning,            assistant  in order; adjacent items share a turn
//     function_call, custom_tool_call
//   function_call_output,                     user       one tool result; adjacent ones share one
//     custom_tool_call_output
//
// What the vendor's own tools left behind (web_search_call …) is left out: what the model learned
// from it is in the text that follows. Items that refer to what only the vendor holds, and calls of
// tools that this server never offers, are refused by name.
// Internal to api/. Pure functions; any thread. Source: Responses API, input items.
#pragma once

#include <vector>

#include "api/json_place.h"
#include "core/error.h"
#include "core/request.h"

namespace zerohop {

/// `input` is a string or an array. Not empty on success.
Result<std::vector<Message>> parse_openai_input(const JsonPlace& input);

}  // namespace zerohop

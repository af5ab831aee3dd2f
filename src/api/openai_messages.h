// `messages` of a chat completions request → typed turns.
//
//   role                turn       content
//   system, developer   system     where it stands; nothing is moved to the front
//   user                user       text and documents
//   assistant           assistant  reasoning_content, then content, then tool_calls in order
//   tool, function      user       one tool result; adjacent ones share a turn
//
// A result without `tool_call_id` answers the first call of the last assistant turn that has no
// answer yet (of its `name`, when it has one); so do `function` messages, whose calls carry no ids.
// A last assistant message is a prefill: generation continues it.
// Internal to api/. Pure functions; any thread. Source: Chat Completions API, messages.
#pragma once

#include <vector>

#include "api/json_place.h"
#include "api/parse_options.h"
#include "core/error.h"
#include "core/request.h"

namespace zerohop {

/// `messages` is the array. Not empty on success.
Result<std::vector<Message>> parse_openai_messages(const JsonPlace& messages,
                                                   const ParseOptions& options);

}  // namespace zerohop

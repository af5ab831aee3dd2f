// The OpenAI dialect's calls for generated text, without a socket.
#pragma once

#include <memory>

#include "app/dialect_call.h"

namespace zerohop {

std::unique_ptr<DialectCall> make_chat_completions_call(CallScope scope);
std::unique_ptr<DialectCall> make_completions_call(CallScope scope);
std::unique_ptr<DialectCall> make_responses_call(CallScope scope);

}  // namespace zerohop

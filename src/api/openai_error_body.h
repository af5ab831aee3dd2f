// Errors as the OpenAI dialect writes them. Headers are the same as everywhere (error_body.h).
// Pure functions; any thread. Source: OpenAI API, errors; official libraries pick a typed exception
// by the HTTP status and show `error.message`, agents look at `error.code`.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"

namespace zerohop {

/// `error.type` on the wire, such as `invalid_request_error`.
std::string_view openai_error_type(ErrorCode code);

/// `error.code` on the wire; empty: null. A kNotFound whose field is `model` is `model_not_found`.
std::string_view openai_error_code(const Error& error);

/// `{"error":{"message":…,"type":…,"param":…,"code":…}}`. `param` is the error's field. On one
/// line, and valid JSON whatever bytes the message holds. Also the data of a failed stream's last
/// frame.
std::string openai_error_body(const Error& error);

}  // namespace zerohop

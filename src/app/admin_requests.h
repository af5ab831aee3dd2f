// Bodies of the admin API as values. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/key_fields.h"
#include "core/error.h"

namespace zerohop {

/// Members of a body, read and of the right type; absent ones are nothing. Which of them a call
/// takes is its own matter.
struct AdminBody : KeyFields {};

/// An object with members among `known` only; an empty body is an empty object. Errors:
/// kInvalidRequest, with the path of the member.
Result<AdminBody> parse_admin_body(std::string_view body, const std::vector<std::string>& known);

}  // namespace zerohop

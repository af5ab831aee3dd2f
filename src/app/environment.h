// The process environment as a value, so that what reads it can be tested. Plain values; any
// thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace zerohop {

using Environment = std::map<std::string, std::string, std::less<>>;

/// A copy of this process's environment. At start, before other threads change it.
Environment process_environment();

/// The value of `name`; nothing when it is unset or empty.
std::optional<std::string> find_variable(const Environment& environment, std::string_view name);

}  // namespace zerohop

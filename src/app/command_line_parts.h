// What the command lines of all commands share. Pure; any thread.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "base/whole_number.h"
#include "core/error.h"

namespace zerohop {

inline Error usage_error(std::string message) {
  return Error{ErrorCode::kConfiguration, std::move(message), {}, {}};
}

/// As typed: "serve", "constrain check".
std::string command_name(const CLI::App& app);

/// All of `text` as a number. Errors: kConfiguration, which names `flag`.
template <class Number>
Result<Number> flag_number(const std::string& flag, const std::string& text) {
  if (const auto number = whole_number<Number>(text)) return *number;
  return usage_error(flag + ": '" + text + "' is not a number that fits");
}

}  // namespace zerohop

// What the command lines of all commands share. Pure; any thread.
#pragma once

#include <CLI/App.hpp>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>

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
  Number value{};
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc{} || parsed.ptr != end) {
    return usage_error(flag + ": '" + text + "' is not a number that fits");
  }
  return value;
}

}  // namespace zerohop

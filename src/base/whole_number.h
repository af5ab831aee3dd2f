// Texts that are one number. Pure; any thread.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace zerohop {

/// The number that `text` is from its first to its last byte, read by std::from_chars: in decimal,
/// no blanks, no plus, a minus only where Number has a sign. Nothing: it is none, or does not fit.
template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, number);
  if (fault != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace zerohop

// The meaning of stop sequences, written the slow and obvious way, for tests and the fuzz target.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace zerohop {

struct StopOracle {
  std::optional<std::size_t> match;  ///< index of the stop sequence that ends the text
  std::size_t consumed = 0;          ///< bytes read, the match included
  std::size_t shown = 0;             ///< bytes in front of the match, or of what is held back
};

inline std::size_t longest_held(std::span<const std::string> stops, std::string_view text) {
  for (std::size_t length = text.size(); length > 0; --length) {
    for (const std::string& stop : stops) {
      if (std::string_view(stop).starts_with(text.substr(text.size() - length))) return length;
    }
  }
  return 0;
}

inline StopOracle naive_stop(std::span<const std::string> stops, std::string_view text) {
  for (std::size_t end = 1; end <= text.size(); ++end) {
    for (std::size_t index = 0; index < stops.size(); ++index) {
      if (!text.substr(0, end).ends_with(stops[index])) continue;
      return {index, end, end - stops[index].size()};
    }
  }
  return {std::nullopt, text.size(), text.size() - longest_held(stops, text)};
}

}  // namespace zerohop

// One JSON value in the ways in which people and libraries write it, all of the same meaning.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "constrain/schema_document.h"

namespace zerohop {

enum class DocumentStyle : std::uint8_t {
  kCompact,
  kSpaced,        ///< a blank behind every ',' and ':'
  kIndented,      ///< a line for each item, two blanks a level
  kTabbed,        ///< the same with \r\n and tabs
  kEscaped,       ///< all characters beyond ASCII as \u
  kAllEscaped,    ///< all characters as \u, with capital digits
  kTrailingZero,  ///< 1 as 1.0, 1.5 as 1.50
  kScientific,    ///< 15 as 1.5e1; numbers of more than seven digits stay as they are
};

struct StyledText {
  DocumentStyle style;
  std::string text;
};

/// In all styles, compact first; a style that changes nothing is left out. Digits are those of
/// `value` but in the last two.
std::vector<StyledText> styled_texts(const JsonNode& value);

std::string_view style_name(DocumentStyle style);

}  // namespace zerohop

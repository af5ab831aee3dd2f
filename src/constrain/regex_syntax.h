// Patterns of ECMA-262 (the `pattern` of JSON Schemas) as terms.
//
// Read as with the u flag: a pattern speaks of code points. Tolerant where schemas in the wild are
// loose: escapes of punctuation that need none, lone ']' and '}', '{' that begins no count, '-'
// beside a class in brackets. \d, \w and \s are ECMA's sets (\d and \w ASCII), '.' is all but line
// terminators, ^ and $ are the ends of the text (no m flag).
//
// Assertions are part of the language by intersection: what stands behind a look-ahead must also be
// in what it says, what stands in front of a look-behind likewise, so they may stand anywhere but
// inside repetitions that could run over them. \b and \B, ^ and $ are look-arounds of one
// character.
//
// Refused, by name and place: back-references; assertions where they cannot be exact; unknown
// properties in \p{…}; property escapes of strings; modifiers.
//
// Bounds: 256 KiB of pattern, nesting of 200, and the pool's budget. Pure; any thread.
#pragma once

#include <string_view>

#include "constrain/regex_algebra.h"
#include "core/error.h"

namespace zerohop {

/// The texts in which `pattern` (UTF-8) finds a match somewhere. The error says what and where
/// ("at character 7: …"); field is empty.
Result<RegexTerm> parse_ecma_pattern(RegexPool& pool, std::string_view pattern);

/// The texts that `pattern` matches from their first to their last character.
Result<RegexTerm> parse_whole_pattern(RegexPool& pool, std::string_view pattern);

}  // namespace zerohop

// UTF-8: validation, whole-character cutting, and characters to bytes and back (RFC 3629: no
// surrogates, no overlong forms, nothing above U+10FFFF). Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace zerohop {

/// Offset of the first byte that cannot be part of valid UTF-8; text.size() when all is valid. A
/// character cut off at the end counts as invalid, at its first byte.
std::size_t utf8_valid_prefix(std::string_view text);

inline bool utf8_is_valid(std::string_view text) { return utf8_valid_prefix(text) == text.size(); }

/// Number of bytes at the end of `text` that begin a character which is not complete yet (0 to 3).
/// 0 when the text ends with a whole character, or with bytes that no continuation could repair.
std::size_t utf8_incomplete_suffix(std::string_view text);

/// Copies `text`, replacing each maximal invalid part by U+FFFD (the Unicode substitution
/// practice).
std::string utf8_replace_invalid(std::string_view text);

/// Appends the bytes of `code_point`, which is a scalar value.
void utf8_append(std::string& text, char32_t code_point);

/// The character at `at` of `text`, which is valid UTF-8; `at` (in bytes, in front of the end)
/// moves behind it. Where the text is cut inside of it, `at` stops at the end, and what comes back
/// is no particular character.
char32_t utf8_next(std::string_view text, std::size_t& at);

/// All characters of `text`, which is valid UTF-8.
std::u32string utf8_decode(std::string_view text);

/// Number of characters of `text`, which is valid UTF-8; of other text, the bytes that continue no
/// character.
std::size_t utf8_characters(std::string_view text);

}  // namespace zerohop

// JSON text, written straight into a string: no tree, no allocation beyond the string's own growth.
//
// The streaming path calls these once a token, so they append to a buffer that the caller reuses.
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace zerohop {

/// Appends `text` as a JSON string with its quotes (RFC 8259, section 7): quote, backslash and the
/// control characters are escaped, everything else is copied. `text` must be valid UTF-8. The
/// result never holds a line break, which SSE framing relies on.
void append_json_string(std::string_view text, std::string& out);

/// As above, with anything that is not valid UTF-8 replaced by U+FFFD first: for text that did not
/// come through a parser of ours (header values, messages of libraries).
void append_json_untrusted(std::string_view text, std::string& out);

void append_json_integer(std::int64_t number, std::string& out);

}  // namespace zerohop

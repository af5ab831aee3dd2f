// Base64 (RFC 4648, section 4) and bytes. Internal to api/. Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace zerohop {

/// Strict: the standard alphabet, padded to a multiple of four, nothing else in between. Nothing
/// when `text` is not that. Empty text gives empty bytes.
std::optional<std::string> base64_decode(std::string_view text);

/// With padding, without line breaks.
void append_base64(std::string_view bytes, std::string& out);

}  // namespace zerohop

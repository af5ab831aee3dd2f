// Base64 (RFC 4648, section 4) → bytes. A pure function; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace zerohop {

/// Strict: the standard alphabet, padded to a multiple of four, nothing else in between. Nothing
/// when `text` is not that. Empty text gives empty bytes.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace zerohop

// Base64 (RFC 4648, section 4), outward: embeddings. The way back is in base64.h.
// Internal to api/. A pure function; any thread.
#pragma once

#include <string>
#include <string_view>

namespace zerohop {

/// With padding, without line breaks.
void append_base64(std::string_view bytes, std::string& out);

}  // namespace zerohop

// Query parameters of lists that come in pages. Pure; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/error.h"

namespace zerohop {

/// The parameter `limit`: 1 to 1000, 20 when absent. Errors: kInvalidRequest, field `limit`.
Result<std::size_t> parse_page_limit(const std::optional<std::string>& text);

}  // namespace zerohop

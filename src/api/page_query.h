// What lists that come in pages share, both ways. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"

namespace zerohop {

/// The parameter `limit`: 1 to 1000, 20 when absent. Errors: kInvalidRequest, field `limit`.
Result<std::size_t> parse_page_limit(const std::optional<std::string>& text);

/// Where a page begins and ends.
struct PageEdges {
  bool has_more = false;
  std::string_view first_id;  ///< empty with the last one: the page is empty
  std::string_view last_id;
};
/// `"has_more":…,"first_id":…,"last_id":…`
void append_page_edges(const PageEdges& edges, std::string& out);

}  // namespace zerohop

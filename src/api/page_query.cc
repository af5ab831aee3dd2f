#include "api/page_query.h"

#include <charconv>

namespace zerohop {

Result<std::size_t> parse_page_limit(const std::optional<std::string>& text) {
  constexpr std::size_t kDefaultLimit = 20;
  constexpr std::size_t kLimitMax = 1'000;
  if (!text) return kDefaultLimit;
  std::size_t limit = 0;
  const char* end = text->data() + text->size();
  const auto [stop, fault] = std::from_chars(text->data(), end, limit);
  if (fault != std::errc() || stop != end || limit < 1 || limit > kLimitMax) {
    return invalid_request("limit", "must be an integer from 1 to 1000");
  }
  return limit;
}

}  // namespace zerohop

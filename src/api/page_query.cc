#include "api/page_query.h"

#include "api/json_writer.h"
#include "base/whole_number.h"

namespace zerohop {
namespace {

void append_id_or_null(std::string_view id, std::string& out) {
  if (id.empty()) {
    out.append("null");
  } else {
    append_json_untrusted(id, out);
  }
}

}  // namespace

Result<std::size_t> parse_page_limit(const std::optional<std::string>& text) {
  constexpr std::size_t kDefaultLimit = 20;
  constexpr std::size_t kLimitMax = 1'000;
  if (!text) return kDefaultLimit;
  const std::size_t limit = whole_number<std::size_t>(*text).value_or(0);
  if (limit < 1 || limit > kLimitMax) {
    return invalid_request("limit", "must be an integer from 1 to 1000");
  }
  return limit;
}

void append_page_edges(const PageEdges& edges, std::string& out) {
  out.append(R"("has_more":)").append(edges.has_more ? "true" : "false");
  out.append(R"(,"first_id":)");
  append_id_or_null(edges.first_id, out);
  out.append(R"(,"last_id":)");
  append_id_or_null(edges.last_id, out);
}

}  // namespace zerohop

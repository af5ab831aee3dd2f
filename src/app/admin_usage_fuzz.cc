// Fuzz target: any bytes as a query of GET /admin/usage. They are refused with the parameter, or
// make a query of the ledger. Seeds: tests/corpus/admin_usage/.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "app/admin_usage.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerohop;
  const auto options = read_usage_request({reinterpret_cast<const char*>(data), size}, "");
  if (!options.ok()) {
    ZH_CHECK(options.error().code == ErrorCode::kInvalidRequest);
    return 0;
  }
  const auto query = usage_query(*options);
  if (query.ok()) {
    ZH_CHECK(!options->until.empty() || query->until == WallTime::max());
    return 0;
  }
  ZH_CHECK(query.error().code == ErrorCode::kInvalidRequest && !query.error().field.empty());
  return 0;
}

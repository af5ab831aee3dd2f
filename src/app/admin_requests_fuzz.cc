// Fuzz target: any bytes as a body of the admin API. They are refused with a reason, or what was
// read keeps its limits. Seeds: tests/corpus/admin_requests/.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "app/admin_requests.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerohop;
  const auto body = parse_admin_body(
      {reinterpret_cast<const char*>(data), size},
      {"tenant", "name", "expires_days", "limits", "weight", "priority", "pool", "models"});
  if (!body.ok()) {
    ZH_CHECK(body.error().code == ErrorCode::kInvalidRequest && !body.error().message.empty());
    return 0;
  }
  ZH_CHECK(body->expires_days.value_or(0) <= 36'500);
  for (const auto& [field, value] : body->limits) ZH_CHECK(value.value_or(0) <= field->max);
  return 0;
}

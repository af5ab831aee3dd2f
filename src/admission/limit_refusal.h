// Why a request does not fit its limits, with the numbers. Plain values; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "admission/limits.h"
#include "base/clock.h"
#include "core/error.h"

namespace zerohop {

enum class LimitOwner : std::uint8_t { kKey, kTenant };

/// "key" or "tenant".
std::string_view limit_owner_name(LimitOwner owner);

struct LimitRefusal {
  LimitKind kind = LimitKind::kRequestsPerMinute;
  LimitOwner owner = LimitOwner::kKey;
  std::string owner_id;  ///< as people call it
  // In the unit of the limit
  std::uint64_t limit = 0;
  std::uint64_t remaining = 0;
  std::uint64_t asked = 0;
  /// When the same request may be admitted; Duration::max(): never, however long one waits.
  Duration retry_after{};

  bool never() const { return retry_after == Duration::max(); }
};

/// Whether it passes by itself within a minute or so: rates, and requests at once. Budgets do not.
bool refills(const LimitRefusal& refusal);

/// One sentence with all numbers, such as "output_tokens_per_minute of key key_1: 500 asked, 120 of
/// 1000 left; try again in 23 s". Seconds are rounded up.
std::string refusal_text(const LimitRefusal& refusal);

/// For the client: kRateLimited with `retry_after` in whole milliseconds, rounded up. What never
/// fits is kInvalidRequest, because the client must ask for less (field `max_tokens` where that
/// would help), and kPermission where the limit is 0.
Error refusal_error(const LimitRefusal& refusal);

}  // namespace zerohop

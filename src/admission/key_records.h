// What is known about an API key and about the tenant that it belongs to. Plain values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/key_text.h"
#include "admission/limits.h"
#include "base/clock.h"
#include "base/strong_id.h"
#include "core/tenant.h"

namespace zerohop {

/// The tenant of keys that name none, and of everybody where no keys are asked for.
inline constexpr std::string_view kDefaultTenantName = "default";

struct TenantRecord {
  TenantId number;  ///< never used again in its store; 0: made up, there is no store
  std::string name{kDefaultTenantName};
  /// Of two tenants that both wait, the share that each gets. 0.001 to 1,000.
  double weight = 1;
  PriorityClass priority = PriorityClass::kStandard;
  std::string pool = {};                 ///< the only pool that serves it; empty: any
  std::vector<std::string> models = {};  ///< patterns of names that it may use; empty: all
  Limits limits = {};                    ///< of all its keys together
  /// HTTP status of refusals for overload, 503 or 529; nothing: as the server has it.
  std::optional<std::uint16_t> overload_status = {};
};

struct KeyTag;
/// Number of a key in its store, never used again.
using KeyId = StrongId<KeyTag, std::uint64_t>;

struct KeyRecord {
  KeyId number;
  std::string id;  ///< `key_` and 16 characters: what people and logs call it
  TenantId tenant;
  std::string name;   ///< whatever its owner wrote; may be empty
  std::string shown;  ///< how its text begins
  KeyHash hash{};
  WallTime created_at{};
  std::optional<WallTime> expires_at;
  std::optional<WallTime> revoked_at;
  Limits limits;
};

}  // namespace zerohop

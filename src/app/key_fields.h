// What can be said of a key or a tenant, by `zerohop keys` and by the admin API, and what that
// changes. What is absent stays as it is. Plain values; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admission/key_store.h"
#include "admission/limits.h"
#include "core/tenant.h"

namespace zerohop {

/// Limits by their field; nothing as number: the limit goes.
using LimitChanges = std::vector<std::pair<const LimitField*, LimitNumber>>;

/// Those of a key are the first four, those of a tenant the others and the limits.
struct KeyFields {
  std::optional<std::string> tenant;
  std::optional<std::string> name;
  std::optional<std::uint32_t> expires_days;
  LimitChanges limits;
  std::optional<double> weight;
  std::optional<PriorityClass> priority;
  std::optional<std::string> pool;
  std::optional<std::vector<std::string>> models;
  std::optional<std::uint16_t> overload_status;  ///< 0: as the server has it
};

NewKey new_key_of(const KeyFields& fields, WallTime now);
void change_limits(const KeyFields& fields, Limits& limits);
void change_tenant(const KeyFields& fields, TenantRecord& tenant);

/// By number.
std::map<TenantId, std::string> tenant_names(const KeyStoreContents& contents);

}  // namespace zerohop

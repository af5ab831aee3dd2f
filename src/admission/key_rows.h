// Rows of the key store as values: what its files share. One thread at a time, as the store.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "admission/key_records.h"
#include "store/columns.h"
#include "store/database.h"

namespace zerohop {

/// Whose limits a row of the table `limits` holds.
enum class LimitRowOwner : std::int64_t { kTenant = 1, kKey = 2 };

struct LimitPlace {
  LimitRowOwner owner = LimitRowOwner::kTenant;
  std::int64_t number = 0;
  friend auto operator<=>(const LimitPlace&, const LimitPlace&) = default;
};

/// The columns that the readers below expect, in their order.
inline constexpr const char* kTenantColumns =
    "number, name, weight_permille, priority, pool, models, overload_status";
inline constexpr const char* kKeyColumns =
    "number, id, tenant, name, shown, hash, created_ms, expires_ms, revoked_ms";

/// Without limits. Errors: kCorrupt, kNewer.
StoreResult<TenantRecord> read_tenant(const Statement& row);
StoreResult<KeyRecord> read_key(const Statement& row);

/// Errors: kNewer where a limit has a name that this program does not know: it must not be ignored.
StoreResult<Limits> read_limits(Database& database, LimitPlace place);
using AllLimits = std::map<LimitPlace, Limits>;
StoreResult<AllLimits> read_all_limits(Database& database);
StoreResult<void> write_limits(Database& database, LimitPlace place, const Limits& limits);

/// `weight` in thousandths.
std::int64_t permille_of(double weight);
/// One pattern a line; patterns are printable, so they hold no line end.
std::string joined(const std::vector<std::string>& models);

/// What is wrong with a tenant or with the name of a key, if anything. Errors: kInvalidRequest,
/// with the field.
Result<void> check_tenant(const TenantRecord& tenant);
Result<void> check_key_name(std::string_view name);

}  // namespace zerohop

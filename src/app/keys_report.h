// Keys and tenants as people and programs read them: a table, or JSON. No hash and no secret is
// among it. Pure; any thread.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "admission/key_records.h"
#include "base/clock.h"

namespace zerohop {

/// "active", "revoked" or "expired".
std::string_view key_state(const KeyRecord& key, WallTime now);

boost::json::object key_json(const KeyRecord& key, const std::string& tenant, WallTime now);
boost::json::object tenant_json(const TenantRecord& tenant);

/// `requests_per_minute=60 tokens_per_day=1000`; "-" for none.
std::string limits_text(const Limits& limits);

/// Columns of equal width, the first row above the others.
std::string table_text(const std::vector<std::vector<std::string>>& rows);

/// "2026-11-29T21:00:00Z".
std::string time_text(WallTime time);

}  // namespace zerohop

// Usage out of the ledger as people and programs read it: a query out of words, and sums as CSV or
// JSON. Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/ledger.h"
#include "core/error.h"

namespace zerohop {

/// What `zerohop usage` or the admin API was asked for, as typed; empty: not said.
struct UsageOptions {
  std::string by = "day,tenant,key";  ///< of day, tenant, key, model and label:NAME
  std::string key;
  std::string tenant;
  std::string from;   ///< a day such as 2026-01-31, UTC
  std::string until;  ///< a day, itself included
  bool json = false;
};

/// Errors: kInvalidRequest with `by`, `from` or `until` as field.
Result<LedgerQuery> usage_query(const UsageOptions& options);

/// RFC 4180: a line of names, then a line for each sum. Columns are what the query groups by, with
/// tenant_number beside tenants (of two with one name, which it is), then requests,
/// uncached_input_tokens, cached_input_tokens, output_tokens, money_micros.
std::string usage_csv(const LedgerGrouping& by, const std::vector<LedgerSum>& sums);

/// `{"usage":[{…},…]}` with the same names; labels stand in an object `labels`.
std::string usage_json(const LedgerGrouping& by, const std::vector<LedgerSum>& sums);

}  // namespace zerohop

// The ledger: a row for every settled request, and its sums by key, tenant, model, label and day.
//
// add() only appends to memory; write_behind() puts what has gathered into one SQLite file, in one
// transaction. A crash loses the rows since the last call. While the file cannot be written, rows
// wait; beyond kLedgerRowsWaiting those of the same day that differ in nothing but time and numbers
// become one, so that memory stays bounded and the sums stay exact.
//
// The sum over the ledger is the sum of the usage in all replies, because both are the numbers with
// which a request was settled.
//
// add() from any thread, without waiting for the disk. The other calls wait for it; any thread, one
// mutex.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "admission/price_table.h"
#include "base/clock.h"
#include "core/tenant.h"
#include "store/database.h"

namespace zerohop {

/// Such as `corpus_version` → `20240601`. Control characters in them are kept as '?'.
using LedgerLabels = std::map<std::string, std::string>;

struct LedgerRow {
  WallTime at{};
  std::string key;  ///< id; empty: open access
  std::string tenant;
  TenantId tenant_number = {};  ///< never used again, unlike its name; 0: there is no store of keys
  std::string model;
  LedgerLabels labels;
  std::uint64_t requests = 1;
  BilledTokens tokens;
  std::uint64_t money_micros = 0;
};

/// Rows in memory that are kept one by one: at 100 requests a second eleven minutes of a full disk.
inline constexpr std::size_t kLedgerRowsWaiting = 65'536;
/// Rows of one answer to a query.
inline constexpr std::size_t kLedgerRowsMax = 100'000;

/// By what sums are kept apart. Nothing chosen: one sum over all.
struct LedgerGrouping {
  bool key = false;
  bool tenant = false;
  bool model = false;
  bool day = false;
  std::vector<std::string> labels;  ///< names
};

struct LedgerQuery {
  LedgerGrouping by;
  std::optional<std::string> key;
  std::optional<std::string> tenant;
  WallTime from = WallTime::min();   ///< included
  WallTime until = WallTime::max();  ///< not included
};

/// What is not grouped by is empty.
struct LedgerSum {
  std::string key;
  std::string tenant;
  TenantId tenant_number = {};  ///< a name may have meant several tenants, one after another
  std::string model;
  std::string day;                  ///< "2026-01-31", UTC
  std::vector<std::string> labels;  ///< values, in the order of the query; empty: no such label
  std::uint64_t requests = 0;
  BilledTokens tokens;
  std::uint64_t money_micros = 0;
};

class Ledger {
 public:
  /// Opens or makes the file. Errors: kConfiguration, with file and reason.
  static Result<std::unique_ptr<Ledger>> open(const DatabaseOptions& options);

  void add(LedgerRow row);

  /// After an error the rows wait for the next call.
  StoreResult<void> write_behind();

  /// Rows that are in memory alone.
  std::size_t waiting() const;

  /// Sums, what waits included, ordered by day, tenant, key, model, labels. Errors: kInvalidRequest
  /// (more than kLedgerRowsMax sums), otherwise of the store.
  Result<std::vector<LedgerSum>> sums(const LedgerQuery& query);

  /// When the newest row in the file was settled; nothing: there is none.
  StoreResult<std::optional<WallTime>> newest();

  /// Retention: drops rows in front of `before`; how many.
  StoreResult<std::int64_t> drop_before(WallTime before);

  /// Rows of an early version name their tenant without its number, and would stay when it is
  /// erased. They get the number that `owner_of` finds for them, which is asked once for each key
  /// and name; how many rows. Those without a key, or of which it finds nothing, stay as they are.
  using OwnerOf =
      std::function<std::optional<TenantId>(std::string_view key, std::string_view tenant)>;
  StoreResult<std::int64_t> adopt(const OwnerOf& owner_of);

  /// Everything of a tenant, and what its last requests still add; how many rows.
  StoreResult<std::int64_t> erase_tenant(TenantId tenant);

 private:
  explicit Ledger(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  StoreResult<void> write_waiting();
  StoreResult<void> insert(const std::vector<LedgerRow>& rows);
  StoreResult<std::int64_t> label_set(const LedgerLabels& labels);
  StoreResult<std::vector<LedgerSum>> read(const LedgerQuery& query);

  std::mutex database_mutex_;                 // taken before waiting_mutex_
  const std::unique_ptr<Database> database_;  // guarded by database_mutex_

  mutable std::mutex waiting_mutex_;
  std::vector<LedgerRow> waiting_;       // guarded by waiting_mutex_
  std::unordered_set<TenantId> erased_;  // guarded by waiting_mutex_
};

}  // namespace zerohop

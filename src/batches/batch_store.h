// What is kept of message batches, in one SQLite file. Requests and results are opaque texts here:
// the dialect that wrote them reads them.
//
//   create()          every request is pending
//   settle(…)         one request gets its result; the last one ends the batch
//   cancel()          marks the batch; the runner (batch_runner.h) settles what is pending
//   archive_old()     results go after their time; the batch itself stays listed
//   erase()           all of a batch that has ended
//
//   requests   | settled: result, no params | pending: params, no result |
//
// A pending request is one without a result, whether it runs or waits: so after a restart whatever
// was running is pending and is computed again.
//
// Any thread: one mutex is held over each call, and calls wait for the disk. So none of them
// belongs on an I/O or engine thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "core/error.h"
#include "core/message_batch.h"
#include "core/tenant.h"
#include "store/database.h"

namespace zerohop {

struct NewBatchRequest {
  std::string custom_id;  ///< unique in the batch
  std::string params;
};

struct NewBatch {
  std::string id;  ///< never used before, such as "msgbatch_" and 24 random characters
  std::vector<NewBatchRequest> requests;
  TenantId owner = {};  ///< 0: everybody's, where no keys are asked for
  /// Number of the key that made it, in the key store: under its limits it is computed. 0: none.
  std::uint64_t owner_key = 0;
};

/// Newest first. With `before_id` the page ends just in front of that batch, with `after_id` it
/// begins just behind it; at most one of the two.
struct BatchListQuery {
  std::size_t limit = 20;  ///< 1 to limits::kBatchPageMax
  std::string after_id;
  std::string before_id;
  TenantId owner = {};  ///< whose batches
};

struct BatchPage {
  std::vector<MessageBatch> batches;
  bool has_more = false;  ///< further in the direction of the query
};

/// Part of the results of a batch, in the order of its requests.
struct BatchResultQuery {
  std::string id;
  std::int64_t next = 0;  ///< 0 at first, then BatchResultPage::next
  std::size_t limit = 1'000;
  std::size_t bytes_max = 1u << 20;  ///< of texts; at least one result is returned
  TenantId owner = {};
};

struct BatchResultPage {
  std::vector<BatchResult> results;
  std::optional<std::int64_t> next;  ///< nothing: these were the last
};

/// A request inside the store.
struct BatchRequestKey {
  std::int64_t batch = 0;     ///< number of the batch in this file
  std::int64_t position = 0;  ///< from 0
  friend auto operator<=>(const BatchRequestKey&, const BatchRequestKey&) = default;
};

struct BatchRequest {
  BatchRequestKey key;
  std::string batch_id;
  std::string custom_id;
  std::string params;
  TenantId owner = {};
  std::uint64_t owner_key = 0;
};

/// A batch that has not ended, as the runner sees it.
struct OpenBatch {
  std::int64_t number = 0;
  WallTime expires_at{};
  bool canceling = false;
};

struct BatchSettlement {
  BatchRequestKey key;
  BatchOutcome outcome = BatchOutcome::kSucceeded;
  std::string text;
};

/// Errors of every call beside its own: kOverloaded with advice when there is no room or another
/// process holds the file, kInternal when the file fails; nothing was changed then, and the cause
/// is in the log.
class BatchStore {
 public:
  /// Opens or makes the file. Errors: kConfiguration, with file and reason.
  static Result<std::unique_ptr<BatchStore>> open(const DatabaseOptions& options);

  // ---- for owners of batches: nobody finds those of another ----

  /// Errors: kInvalidRequest (no request, too many, a custom_id twice).
  Result<MessageBatch> create(const NewBatch& batch, WallTime now);
  /// Errors: kNotFound.
  Result<MessageBatch> get(std::string_view id, TenantId owner = {}) const;
  /// Errors: kInvalidRequest (`after_id` or `before_id` names no batch).
  Result<BatchPage> list(const BatchListQuery& query) const;
  /// The same again for a batch that is being cancelled. Errors: kNotFound, kInvalidRequest (it has
  /// ended). The runner must be told (BatchRunner::poll).
  Result<MessageBatch> cancel(std::string_view id, WallTime now, TenantId owner = {});
  /// Errors: kNotFound, kInvalidRequest (it has not ended).
  Result<void> erase(std::string_view id, TenantId owner = {});
  /// Errors: kNotFound (no such batch, or its results are gone), kInvalidRequest (it has not
  /// ended).
  Result<BatchResultPage> results(const BatchResultQuery& query) const;

  // ---- for the runner ----

  /// In order of creation.
  Result<std::vector<OpenBatch>> open_batches() const;
  /// The first pending request of a batch behind `position` (-1: from the beginning).
  Result<std::optional<BatchRequest>> next_pending(std::int64_t batch, std::int64_t position) const;
  /// Gives a pending request its result; one that has a result keeps it. Ends the batch with its
  /// last one.
  Result<void> settle(const BatchSettlement& settlement, WallTime now);
  /// Gives every pending request behind `after` (a position of the batch `after.batch`) the same
  /// outcome, without text.
  Result<void> settle_rest(BatchRequestKey after, BatchOutcome outcome, WallTime now);
  /// Drops the results of batches whose time is over.
  Result<void> archive_old(WallTime now);
  /// Everything of these owners goes. A batch that has not ended is cancelled, and goes the next
  /// time.
  Result<void> drop_owners(std::span<const TenantId> owners, WallTime now);

 private:
  explicit BatchStore(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  StoreResult<MessageBatch> insert(const NewBatch& batch, WallTime now);
  StoreResult<std::optional<MessageBatch>> find(std::string_view id, TenantId owner) const;
  StoreResult<std::optional<std::int64_t>> number_of(std::string_view id, TenantId owner) const;
  StoreResult<BatchPage> page(const BatchListQuery& query, std::int64_t edge) const;
  StoreResult<BatchResultPage> result_page(const BatchResultQuery& query) const;
  StoreResult<void> store_cancel(std::string_view id, WallTime now);
  StoreResult<void> store_settlement(const BatchSettlement& settlement, WallTime now);
  StoreResult<void> store_rest(BatchRequestKey after, BatchOutcome outcome, WallTime now);
  StoreResult<void> count_settled(BatchRequestKey request, BatchOutcome outcome, WallTime now);
  StoreResult<void> drop_results(WallTime now);
  StoreResult<void> drop_all_of(std::span<const TenantId> owners, WallTime now);

  mutable std::mutex mutex_;
  const std::unique_ptr<Database> database_;  // guarded by mutex_
};

}  // namespace zerohop

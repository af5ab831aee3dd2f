// The half of the store that the runner uses. See batch_store.h.

#include <string>

#include "base/check.h"
#include "batches/batch_rows.h"
#include "batches/batch_store.h"
#include "core/limits.h"

namespace zerohop {
namespace {

const char* count_column(BatchOutcome outcome) {
  switch (outcome) {
    case BatchOutcome::kSucceeded: return "succeeded";
    case BatchOutcome::kErrored: return "errored";
    case BatchOutcome::kCanceled: return "canceled";
    case BatchOutcome::kExpired: break;
  }
  return "expired";
}

}  // namespace

Result<std::vector<OpenBatch>> BatchStore::open_batches() const {
  const std::scoped_lock lock(mutex_);
  ZH_ASSIGN_OR_RETURN_STORED(
      Statement row, database_->prepare("SELECT number, expires_ms, cancel_ms FROM batches WHERE "
                                        "ended_ms IS NULL ORDER BY number"));
  std::vector<OpenBatch> open;
  while (true) {
    ZH_ASSIGN_OR_RETURN_STORED(const bool more, row.step());
    if (!more) return open;
    open.push_back(OpenBatch{row.integer(0), time_at(row, 1), row.integer_or_null(2).has_value()});
  }
}

Result<std::optional<BatchRequest>> BatchStore::next_pending(std::int64_t batch,
                                                             std::int64_t position) const {
  const std::scoped_lock lock(mutex_);
  ZH_ASSIGN_OR_RETURN_STORED(
      Statement row,
      database_->prepare(
          "SELECT position, id, custom_id, params, owner, owner_key FROM requests JOIN batches "
          "ON batch = number WHERE batch = ? AND position > ? AND outcome IS NULL "
          "ORDER BY position LIMIT 1"));
  ZH_ASSIGN_OR_RETURN_STORED(const bool found, row.bind(batch, position).step());
  if (!found) return std::optional<BatchRequest>();
  return std::optional<BatchRequest>(BatchRequest{
      BatchRequestKey{batch, row.integer(0)}, std::string(row.text(1)), std::string(row.text(2)),
      std::string(row.text(3)), TenantId{number_at(row, 4)}, number_at(row, 5)});
}

Result<void> BatchStore::settle(const BatchSettlement& settlement, WallTime now) {
  const std::scoped_lock lock(mutex_);
  ZH_RETURN_IF_STORE_ERROR(store_settlement(settlement, now));
  return {};
}

StoreResult<void> BatchStore::store_settlement(const BatchSettlement& settlement, WallTime now) {
  const BatchRequestKey key = settlement.key;
  ZH_ASSIGN_OR_RETURN(Transaction transaction, database_->begin());
  ZH_ASSIGN_OR_RETURN(Statement update,
                      database_->prepare("UPDATE requests SET outcome = ?, result = ?, params = "
                                         "NULL WHERE batch = ? AND position = ? AND outcome IS "
                                         "NULL"));
  update.bind(to_column(settlement.outcome), settlement.text, key.batch, key.position);
  ZH_RETURN_IF_ERROR(update.run());
  ZH_RETURN_IF_ERROR(count_settled(key, settlement.outcome, now));
  return transaction.commit();
}

Result<void> BatchStore::settle_rest(BatchRequestKey after, BatchOutcome outcome, WallTime now) {
  const std::scoped_lock lock(mutex_);
  ZH_RETURN_IF_STORE_ERROR(store_rest(after, outcome, now));
  return {};
}

StoreResult<void> BatchStore::store_rest(BatchRequestKey after, BatchOutcome outcome,
                                         WallTime now) {
  ZH_ASSIGN_OR_RETURN(Transaction transaction, database_->begin());
  ZH_ASSIGN_OR_RETURN(Statement update,
                      database_->prepare("UPDATE requests SET outcome = ?, params = NULL WHERE "
                                         "batch = ? AND position > ? AND outcome IS NULL"));
  ZH_RETURN_IF_ERROR(update.bind(to_column(outcome), after.batch, after.position).run());
  ZH_RETURN_IF_ERROR(count_settled(after, outcome, now));
  return transaction.commit();
}

// The last statement settled requests of this batch; the books follow, inside the same transaction.
StoreResult<void> BatchStore::count_settled(BatchRequestKey request, BatchOutcome outcome,
                                            WallTime now) {
  const std::int64_t settled = database_->rows_changed();
  if (settled == 0) return {};
  const std::string column = count_column(outcome);
  ZH_ASSIGN_OR_RETURN(
      Statement update,
      database_->prepare("UPDATE batches SET pending = pending - ?1, " + column + " = " + column +
                         " + ?1, ended_ms = CASE WHEN pending = ?1 THEN ?2 END WHERE number = ?3"));
  return update.bind(settled, ms_column(now), request.batch).run();
}

Result<void> BatchStore::archive_old(WallTime now) {
  const std::scoped_lock lock(mutex_);
  ZH_RETURN_IF_STORE_ERROR(drop_results(now));
  return {};
}

StoreResult<void> BatchStore::drop_results(WallTime now) {
  const std::int64_t before = ms_column(now - limits::kBatchResultsKept);
  ZH_ASSIGN_OR_RETURN(Transaction transaction, database_->begin());
  ZH_ASSIGN_OR_RETURN(Statement drop,
                      database_->prepare("DELETE FROM requests WHERE batch IN (SELECT number FROM "
                                         "batches WHERE ended_ms IS NOT NULL AND archived_ms IS "
                                         "NULL AND created_ms <= ?)"));
  ZH_RETURN_IF_ERROR(drop.bind(before).run());
  ZH_ASSIGN_OR_RETURN(Statement mark,
                      database_->prepare("UPDATE batches SET archived_ms = ? WHERE ended_ms IS NOT "
                                         "NULL AND archived_ms IS NULL AND created_ms <= ?"));
  ZH_RETURN_IF_ERROR(mark.bind(ms_column(now), before).run());
  return transaction.commit();
}

// ---- tenants that are no more ----

StoreResult<void> BatchStore::drop_all_of(std::span<const TenantId> owners, WallTime now) {
  ZH_ASSIGN_OR_RETURN(Transaction transaction, database_->begin());
  ZH_ASSIGN_OR_RETURN(Statement ended, database_->prepare("DELETE FROM batches WHERE owner = ? AND "
                                                          "ended_ms IS NOT NULL"));
  ZH_ASSIGN_OR_RETURN(Statement open,
                      database_->prepare("UPDATE batches SET cancel_ms = ? WHERE owner = ? AND "
                                         "cancel_ms IS NULL"));
  for (const TenantId owner : owners) {
    ZH_RETURN_IF_ERROR(ended.bind(owner_column(owner)).run());
    ZH_RETURN_IF_ERROR(open.bind(ms_column(now), owner_column(owner)).run());
  }
  return transaction.commit();
}

Result<void> BatchStore::drop_owners(std::span<const TenantId> owners, WallTime now) {
  const std::scoped_lock lock(mutex_);
  ZH_RETURN_IF_STORE_ERROR(drop_all_of(owners, now));
  return {};
}

}  // namespace zerohop

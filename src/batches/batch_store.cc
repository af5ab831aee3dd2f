// The half of the store that owners of batches use. See batch_store.h.

#include "batches/batch_store.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "base/check.h"
#include "batches/batch_rows.h"
#include "core/limits.h"

namespace zerohop {
namespace {

// Times in milliseconds since 1970. `pending` counts requests without an outcome.
constexpr std::string_view kSchema1 = R"sql(
CREATE TABLE batches (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL,
  cancel_ms INTEGER,
  ended_ms INTEGER,
  archived_ms INTEGER,
  total INTEGER NOT NULL,
  pending INTEGER NOT NULL,
  succeeded INTEGER NOT NULL DEFAULT 0,
  errored INTEGER NOT NULL DEFAULT 0,
  canceled INTEGER NOT NULL DEFAULT 0,
  expired INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX batches_open ON batches (number) WHERE ended_ms IS NULL;
CREATE TABLE requests (
  batch INTEGER NOT NULL REFERENCES batches (number) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  custom_id TEXT NOT NULL,
  params TEXT,
  outcome INTEGER,
  result TEXT,
  PRIMARY KEY (batch, position)
) STRICT;
CREATE INDEX requests_pending ON requests (batch, position) WHERE outcome IS NULL;
)sql";

// Each batch is somebody's.
constexpr std::string_view kSchema2 = R"sql(
ALTER TABLE batches ADD COLUMN owner INTEGER NOT NULL DEFAULT 0;
CREATE INDEX batches_of_owner ON batches (owner, number);
)sql";

// And was made with a key, which pays for it; 0 where that is not known.
constexpr std::string_view kSchema3 = R"sql(
ALTER TABLE batches ADD COLUMN owner_key INTEGER NOT NULL DEFAULT 0;
)sql";

constexpr std::int64_t kNewest = std::numeric_limits<std::int64_t>::max();

Error not_found(std::string_view id) {
  return Error{ErrorCode::kNotFound, "no message batch has the id " + std::string(id), "", {}};
}

Result<void> check(const NewBatch& batch) {
  if (batch.requests.empty()) {
    return invalid_request("requests", "a batch needs at least one request");
  }
  if (batch.requests.size() > limits::kBatchRequestsMax) {
    return invalid_request("requests",
                           "a batch has at most " + std::to_string(limits::kBatchRequestsMax) +
                               " requests, not " + std::to_string(batch.requests.size()));
  }
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < batch.requests.size(); ++i) {
    if (seen.insert(batch.requests[i].custom_id).second) continue;
    return invalid_request("requests[" + std::to_string(i) + "].custom_id",
                           "custom_id must be unique in a batch");
  }
  return {};
}

}  // namespace

MessageBatch read_batch(const Statement& row) {
  MessageBatch batch;
  batch.id = std::string(row.text(0));
  batch.created_at = time_at(row, 1);
  batch.expires_at = time_at(row, 2);
  batch.cancel_initiated_at = time_or_null_at(row, 3);
  batch.ended_at = time_or_null_at(row, 4);
  batch.archived_at = time_or_null_at(row, 5);
  const auto count = [&row](int column) { return number_at(row, column); };
  if (batch.ended_at) {
    batch.status = BatchStatus::kEnded;
    batch.counts = BatchCounts{0, count(7), count(8), count(9), count(10)};
  } else {
    batch.status = batch.cancel_initiated_at ? BatchStatus::kCanceling : BatchStatus::kInProgress;
    batch.counts.processing = count(6);
  }
  return batch;
}

Error logged(const StoreError& error) {
  log_error("the store of message batches failed", {{"reason", error.message}});
  return client_error(error);
}

Result<std::unique_ptr<BatchStore>> BatchStore::open(const DatabaseOptions& options) {
  const std::string_view migrations[]{kSchema1, kSchema2, kSchema3};
  StoreResult<std::unique_ptr<Database>> opened = Database::open(options, migrations);
  if (!opened.ok()) return startup_error(opened.error());
  return std::unique_ptr<BatchStore>(new BatchStore(std::move(opened).value()));
}

// ---- create ----

Result<MessageBatch> BatchStore::create(const NewBatch& batch, WallTime now) {
  ZH_RETURN_IF_ERROR(check(batch));
  const std::scoped_lock lock(mutex_);
  ZH_ASSIGN_OR_RETURN_STORED(MessageBatch made, insert(batch, now));
  return made;
}

StoreResult<MessageBatch> BatchStore::insert(const NewBatch& batch, WallTime now) {
  MessageBatch made;
  made.id = batch.id;
  made.created_at = time_from_ms(ms_column(now));
  made.expires_at = made.created_at + limits::kBatchLifetime;
  made.counts.processing = batch.requests.size();
  const auto total = static_cast<std::int64_t>(batch.requests.size());

  ZH_ASSIGN_OR_RETURN(Transaction transaction, database_->begin());
  ZH_ASSIGN_OR_RETURN(Statement row,
                      database_->prepare("INSERT INTO batches (id, created_ms, expires_ms, total, "
                                         "pending, owner, owner_key) "
                                         "VALUES (?, ?, ?, ?, ?, ?, ?)"));
  row.bind(batch.id, ms_column(made.created_at), ms_column(made.expires_at), total, total,
           owner_column(batch.owner), number_column(batch.owner_key));
  ZH_RETURN_IF_ERROR(row.run());
  const std::int64_t number = database_->last_row();
  ZH_ASSIGN_OR_RETURN(Statement request,
                      database_->prepare("INSERT INTO requests (batch, position, custom_id, "
                                         "params) VALUES (?, ?, ?, ?)"));
  for (std::int64_t position = 0; position < total; ++position) {
    const NewBatchRequest& one = batch.requests[static_cast<std::size_t>(position)];
    ZH_RETURN_IF_ERROR(request.bind(number, position, one.custom_id, one.params).run());
  }
  ZH_RETURN_IF_ERROR(transaction.commit());
  return made;
}

// ---- get, list ----

StoreResult<std::optional<MessageBatch>> BatchStore::find(std::string_view id,
                                                          TenantId owner) const {
  ZH_ASSIGN_OR_RETURN(Statement row,
                      database_->prepare(std::string("SELECT ") + kBatchColumns +
                                         " FROM batches WHERE id = ? AND owner = ?"));
  ZH_ASSIGN_OR_RETURN(const bool found, row.bind(id, owner_column(owner)).step());
  if (!found) return std::optional<MessageBatch>();
  return std::optional<MessageBatch>(read_batch(row));
}

StoreResult<std::optional<std::int64_t>> BatchStore::number_of(std::string_view id,
                                                               TenantId owner) const {
  ZH_ASSIGN_OR_RETURN(Statement row, database_->prepare("SELECT number FROM batches WHERE id = ? "
                                                        "AND owner = ?"));
  ZH_ASSIGN_OR_RETURN(const bool found, row.bind(id, owner_column(owner)).step());
  if (!found) return std::optional<std::int64_t>();
  return std::optional<std::int64_t>(row.integer(0));
}

Result<MessageBatch> BatchStore::get(std::string_view id, TenantId owner) const {
  const std::scoped_lock lock(mutex_);
  ZH_ASSIGN_OR_RETURN_STORED(std::optional<MessageBatch> batch, find(id, owner));
  if (!batch) return not_found(id);
  return std::move(*batch);
}

Result<BatchPage> BatchStore::list(const BatchListQuery& query) const {
  ZH_CHECK(query.limit >= 1 && query.limit <= limits::kBatchPageMax);
  ZH_CHECK(query.after_id.empty() || query.before_id.empty());
  const std::scoped_lock lock(mutex_);
  std::int64_t edge = kNewest;
  const bool before = !query.before_id.empty();
  const std::string& id = before ? query.before_id : query.after_id;
  if (!id.empty()) {
    ZH_ASSIGN_OR_RETURN_STORED(const std::optional<std::int64_t> number,
                               number_of(id, query.owner));
    if (!number) {
      return invalid_request(before ? "before_id" : "after_id",
                             "no message batch has the id " + id);
    }
    edge = *number;
  }
  ZH_ASSIGN_OR_RETURN_STORED(BatchPage found, page(query, edge));
  return found;
}

// One row more than asked for tells whether there are more.
StoreResult<BatchPage> BatchStore::page(const BatchListQuery& query, std::int64_t edge) const {
  const bool before = !query.before_id.empty();
  ZH_ASSIGN_OR_RETURN(Statement row, database_->prepare(std::string("SELECT ") + kBatchColumns +
                                                        " FROM batches WHERE owner = ? AND " +
                                                        (before ? "number > ? ORDER BY number ASC"
                                                                : "number < ? ORDER BY number "
                                                                  "DESC") +
                                                        " LIMIT ?"));
  row.bind(owner_column(query.owner), edge, static_cast<std::int64_t>(query.limit) + 1);
  BatchPage found;
  while (true) {
    ZH_ASSIGN_OR_RETURN(const bool more, row.step());
    if (!more) break;
    found.batches.push_back(read_batch(row));
  }
  found.has_more = found.batches.size() > query.limit;
  if (found.has_more) found.batches.pop_back();
  if (before) std::reverse(found.batches.begin(), found.batches.end());
  return found;
}

// ---- cancel, erase ----

Result<MessageBatch> BatchStore::cancel(std::string_view id, WallTime now, TenantId owner) {
  const std::scoped_lock lock(mutex_);
  ZH_ASSIGN_OR_RETURN_STORED(std::optional<MessageBatch> batch, find(id, owner));
  if (!batch) return not_found(id);
  if (batch->status == BatchStatus::kEnded) {
    return invalid_request("", "the message batch has ended and can no longer be canceled");
  }
  if (batch->status == BatchStatus::kCanceling) return std::move(*batch);
  ZH_RETURN_IF_STORE_ERROR(store_cancel(id, now));
  batch->status = BatchStatus::kCanceling;
  batch->cancel_initiated_at = time_from_ms(ms_column(now));
  return std::move(*batch);
}

StoreResult<void> BatchStore::store_cancel(std::string_view id, WallTime now) {
  ZH_ASSIGN_OR_RETURN(Statement update,
                      database_->prepare("UPDATE batches SET cancel_ms = ? WHERE id = ?"));
  return update.bind(ms_column(now), id).run();
}

Result<void> BatchStore::erase(std::string_view id, TenantId owner) {
  const std::scoped_lock lock(mutex_);
  ZH_ASSIGN_OR_RETURN_STORED(const std::optional<MessageBatch> batch, find(id, owner));
  if (!batch) return not_found(id);
  if (batch->status != BatchStatus::kEnded) {
    return invalid_request("",
                           "a message batch must have ended before it can be deleted; cancel "
                           "it first");
  }
  ZH_ASSIGN_OR_RETURN_STORED(Statement row, database_->prepare("DELETE FROM batches WHERE id = ?"));
  ZH_RETURN_IF_STORE_ERROR(row.bind(id).run());
  return {};
}

// ---- results ----

Result<BatchResultPage> BatchStore::results(const BatchResultQuery& query) const {
  ZH_CHECK(query.limit >= 1);
  const std::scoped_lock lock(mutex_);
  ZH_ASSIGN_OR_RETURN_STORED(const std::optional<MessageBatch> batch, find(query.id, query.owner));
  if (!batch) return not_found(query.id);
  if (batch->status != BatchStatus::kEnded) {
    return invalid_request("", "the message batch has no results before it has ended");
  }
  if (batch->archived_at) {
    return Error{
        ErrorCode::kNotFound, "the results of the message batch are no longer kept", "", {}};
  }
  ZH_ASSIGN_OR_RETURN_STORED(BatchResultPage found, result_page(query));
  return found;
}

StoreResult<BatchResultPage> BatchStore::result_page(const BatchResultQuery& query) const {
  ZH_ASSIGN_OR_RETURN(
      Statement row,
      database_->prepare("SELECT position, custom_id, outcome, result FROM requests WHERE batch = "
                         "(SELECT number FROM batches WHERE id = ?) AND position >= ? "
                         "ORDER BY position"));
  row.bind(query.id, query.next);
  BatchResultPage found;
  std::size_t bytes = 0;
  while (true) {
    ZH_ASSIGN_OR_RETURN(const bool more, row.step());
    if (!more) return found;
    if (found.results.size() == query.limit || (bytes >= query.bytes_max && bytes > 0)) {
      found.next = row.integer(0);
      return found;
    }
    const std::string_view text = row.text(3);
    found.results.push_back(BatchResult{
        std::string(row.text(1)), static_cast<BatchOutcome>(row.integer(2)), std::string(text)});
    bytes += text.size();
  }
}

}  // namespace zerohop

// Rows of the batch tables as values: what both halves of BatchStore share.
#pragma once

#include <cstdint>
#include <utility>

#include "base/log.h"
#include "core/message_batch.h"
#include "core/tenant.h"
#include "store/columns.h"
#include "store/database.h"

namespace zerohop {

/// Column `requests.outcome`.
inline std::int64_t to_column(BatchOutcome outcome) { return static_cast<std::int64_t>(outcome); }

/// Column `batches.owner`.
inline std::int64_t owner_column(TenantId owner) { return number_column(owner.value); }

/// The columns that read_batch() expects, in its order.
inline constexpr const char* kBatchColumns =
    "id, created_ms, expires_ms, cancel_ms, ended_ms, archived_ms, total, succeeded, errored, "
    "canceled, expired";

/// The current row of a statement that selects kBatchColumns.
MessageBatch read_batch(const Statement& row);

/// What a client is told; the operator finds the cause in the log.
Error logged(const StoreError& error);

}  // namespace zerohop

/// Hands a StoreError on to a client.
#define ZH_ASSIGN_OR_RETURN_STORED(declaration, expression)            \
  auto ZH_CONCAT(zh_stored_, __LINE__) = (expression);                 \
  if (!ZH_CONCAT(zh_stored_, __LINE__).ok()) {                         \
    return ::zerohop::logged(ZH_CONCAT(zh_stored_, __LINE__).error()); \
  }                                                                    \
  declaration = std::move(ZH_CONCAT(zh_stored_, __LINE__)).value()

#define ZH_RETURN_IF_STORE_ERROR(expression)       \
  do {                                             \
    const auto zh_stored = (expression);           \
    if (!zh_stored.ok()) {                         \
      return ::zerohop::logged(zh_stored.error()); \
    }                                              \
  } while (false)

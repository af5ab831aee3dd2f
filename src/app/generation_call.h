// One request for generated text, from its body to the last byte of its answer, in whatever
// dialect:
//
//   body ─ worker: parse ─ (waiter: documents → text) ─ worker: render, tokenise ─→ engine
//      └── I/O thread: a short body, whose prompt is remembered ──────────────────────┘
//        ─→ events ─→ dialect ─→ socket
//
// A streamed answer decides on its status as late as it can: the head of the response goes out with
// the first event, so a request that fails before it was started still gets a true HTTP status.
#pragma once

#include <cstddef>
#include <memory>

#include "app/dialect_call.h"
#include "app/request_notes.h"
#include "app/service.h"
#include "core/request.h"
#include "http/awaitable.h"
#include "http/exchange.h"

namespace zerohop {

/// What is no longer, the I/O thread reads itself: `zh_app_bench --benchmark_filter=BM_AtOnce` says
/// for how long.
inline constexpr std::size_t kBodyAtOnceMax = 4u << 10;

/// Runs `call` for the request of `exchange` and answers it.
Awaitable<void> run_generation(Service& service, Exchange& exchange,
                               std::unique_ptr<DialectCall> call);

/// A request before it is read. What the pointers mean outlives the work.
struct UnreadCall {
  DialectCall* call = nullptr;
  const TenantRecord* tenant = nullptr;  ///< whose it is
  std::string body;
  RequestNotes* notes = nullptr;  ///< gets what the body tells; null: nobody asks
  /// What is short and remembered is done at once, without a worker: two threads need not wake each
  /// other for it. Not for many requests in a row, which would keep the I/O thread to themselves.
  bool at_once = false;
};

/// To what runs: parsed and rendered on workers, its documents read in between.
Awaitable<Result<PreparedCall>> prepare_call(CallScope scope, UnreadCall unread);

/// Makes the documents of `conversation` text, on a thread that may wait.
Awaitable<Result<void>> read_documents_of(CallScope scope, Conversation& conversation);

}  // namespace zerohop

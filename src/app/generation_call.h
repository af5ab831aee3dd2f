// One request for generated text, from its body to the last byte of its answer, in whatever
// dialect:
//
//   body ─ worker: parse ─ (waiter: documents → text) ─ worker: render, tokenise ─→ engine
//        ─→ events ─→ dialect ─→ socket
//
// A streamed answer decides on its status as late as it can: the head of the response goes out with
// the first event, so a request that fails before it was started still gets a true HTTP status.
#pragma once

#include <memory>

#include "app/dialect_call.h"
#include "app/request_notes.h"
#include "app/service.h"
#include "core/request.h"
#include "http/awaitable.h"
#include "http/exchange.h"

namespace zerohop {

/// Runs `call` for the request of `exchange` and answers it.
Awaitable<void> run_generation(Service& service, Exchange& exchange,
                               std::unique_ptr<DialectCall> call);

/// A request before it is read. What the pointers mean outlives the work.
struct UnreadCall {
  DialectCall* call = nullptr;
  const TenantRecord* tenant = nullptr;  ///< whose it is
  std::string body;
  RequestNotes* notes = nullptr;  ///< gets what the body tells; null: nobody asks
};

/// To what runs: parsed and rendered on workers, its documents read in between.
Awaitable<Result<PreparedCall>> prepare_call(CallScope scope, UnreadCall unread);

/// Makes the documents of `conversation` text, on a thread that may wait.
Awaitable<Result<void>> read_documents_of(CallScope scope, Conversation& conversation);

}  // namespace zerohop

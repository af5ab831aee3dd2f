// What the server knows about one HTTP request beside its bytes: who it is, how far it has come,
// and the permit that lets it be here. It is the ticket of an exchange (http/server_options.h):
// made before the body is read, dropped after the last byte of the answer. I/O thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "admission/caller.h"
#include "admission/limiter.h"
#include "admission/request_lifecycle.h"
#include "app/live_config.h"
#include "app/request_notes.h"
#include "app/request_tenant.h"
#include "app/request_trace.h"
#include "base/permit.h"
#include "core/error.h"
#include "core/snapshot.h"
#include "core/usage.h"
#include "http/awaitable.h"
#include "http/exchange.h"

namespace zerohop {

struct Service;

struct RequestContext {
  RequestContext(TimePoint now, std::shared_ptr<const LiveConfig> live_in)
      : live(std::move(live_in)), life(now) {}

  /// The configuration that this request is served by to its end.
  const std::shared_ptr<const LiveConfig> live;
  std::string request_id;  ///< `req_` and 24 random characters
  Permit permit;           ///< held for requests that cost something
  RequestLifecycle life;
  RequestTrace trace;  ///< none for requests whose head could not be read

  /// What the request's anthropic-version chose; null for requests of other dialects.
  const WireProfile* profile = nullptr;
  /// Whose request it is: until a good key was seen, unknown_tenant() where one is asked for.
  Caller caller;
  RequestTenant tenant;  ///< as whom it takes its turn; of requests that cost a permit
  Reservation limit;     ///< what it holds of the caller's limits; settled by whoever answers it
  std::optional<LimitGrant> granted;  ///< by its limits; there when it has been settled
  /// What the body tells of the engine, for its header to tell the same; nothing: no matter what.
  std::optional<EngineSnapshot> engine;
  /// The answer is at most this long, less than was asked for: cells are scarce. 0: not so.
  std::uint32_t soft_max_tokens = 0;
  /// What of the request's schemas is not enforced (ReadyConstraint::relaxed); empty: nothing.
  std::string constraint_relaxed;

  // For the log line
  Usage usage;
  std::string stop_reason;
  RequestNotes notes;
  std::uint32_t pieces_out = 0;  ///< deltas of the answer so far, about one a token
};

/// A new context with a fresh id and the configuration in force, of nobody yet.
std::shared_ptr<RequestContext> make_request_context(const Service& service);

/// The context behind an exchange's ticket; null when there is none.
RequestContext* context_of(const std::shared_ptr<void>& ticket);

/// Answers with `error`, counts it, and ends the life of a request that holds a permit.
Awaitable<void> refuse_request(Service& service, Exchange& exchange, Error error);

}  // namespace zerohop

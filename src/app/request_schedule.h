// What the head of a request says about when and how it is to be served:
//
//   X-Anthropic-Cache-Key   a client's own name for requests whose prefixes are held on to together
//   anthropic-deadline-ms   from the first byte of the request: an answer that ends later is worth
//                           nothing, so one whose first token would come too late is refused
//   x-stainless-timeout     seconds after which an official client gives up. It counts to the head
//                           of the response, which a stream has long before its end: a bound for
//                           whole answers only
//
// Pure functions; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "app/config.h"
#include "app/request_tenant.h"
#include "base/clock.h"
#include "core/error.h"
#include "core/service_estimate.h"
#include "core/snapshot.h"
#include "engine/engine_request.h"
#include "http/message.h"

namespace zerohop {

struct RequestSchedule {
  RequestTenant tenant;
  std::uint64_t affinity = 0;                ///< 0: none
  std::optional<TimePoint> deadline;         ///< what the client said itself
  std::optional<TimePoint> client_gives_up;  ///< on a whole answer
};

/// Errors: kInvalidRequest, with the header's name as field. A time-out that is no number is not
/// looked at: it only informs.
Result<RequestSchedule> read_schedule(const RequestTenant& tenant, const RequestHead& head,
                                      TimePoint received_at);

enum class AnswerShape : std::uint8_t { kWhole, kStream };

/// Until when an answer of that shape is worth something.
std::optional<TimePoint> deadline_of(const RequestSchedule& schedule, AnswerShape shape);

/// What is known at the door.
struct DoorView {
  EngineSnapshot engine;
  TimePoint now{};
  Duration itl_objective{};
  std::optional<InFront> in_front = {};  ///< ServiceQuestion::in_front
  std::uint32_t max_tokens = 0;          ///< of the answer; 0: not known yet
  std::uint32_t likely_uncached = 0;  ///< of the prompt (EngineLoop::likely_uncached()); likewise
  std::size_t choices = 1;            ///< answers; each takes a place of its own
};

/// How long a request may wait for its first token, by PriorityClass.
using ClassWaits = std::array<Duration, kPriorityClasses>;

/// Errors: kConfiguration (not one for each class, or none).
Result<ClassWaits> class_waits(const Config& config);

/// Names of what was full or too late, as Error::detail of a refusal at the door and as a label of
/// zerohop_queue_refusals_total.
inline constexpr std::string_view kWaitRefusal = "queue;wait";
inline constexpr std::string_view kDeadlineRefusal = "queue;deadline";

/// Whether the first token of the first answer can be expected within `wait_max`. Errors:
/// kOverloaded, with the time after which it could be as advice. Nothing is refused that the engine
/// has no rates for, nor where a place is free.
Result<void> check_wait(const DoorView& door, Duration wait_max);

/// Whether the queue leaves room for the deadline of an answer of that shape, of the last one where
/// there are several. Errors: kOverloaded, with advice when to come back. What of the prompt is
/// cached is not known here, so only the wait counts; the engine looks again.
Result<void> check_deadline(const RequestSchedule& schedule, AnswerShape shape,
                            const DoorView& door);

void apply_schedule(const RequestSchedule& schedule, AnswerShape shape, EngineRequest& request);

}  // namespace zerohop

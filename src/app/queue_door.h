// The queue's door: whether a request can be served in time, asked before anything is spent on it.
//
//   head ─▶ check_queue_at_head()    full queue, longest wait, deadline, at its very best
//           body ─ worker: parse, tokenise
//        ─▶ check_queue_at_submit()  the same for what it is: its class, its shape
//        ─▶ engine       what of the prompt is cached is known there: a last look
//
// Both predict the time to the first token from what the engine published last and from what waits
// in front of a request of that tenant and class (core/service_estimate.h, engine/queue_books.h).
// What of the prompt has to be computed is unknown: at the head its own prefill is taken to cost
// nothing, at the submission as much as the share of earlier prompts that was not cached. Where
// nothing is known yet, or a place is free, nobody is refused for waiting.
//
// A refusal says when to come back: when the queue has shrunk to what was granted, spread over a
// quarter more, so that those who were refused together do not come back together; at most 60 s,
// because older clients ignore longer waits.
//
// I/O thread.
#pragma once

#include "app/request_schedule.h"
#include "app/service.h"
#include "core/error.h"
#include "http/message.h"

namespace zerohop {

struct RequestContext;

/// Whether requests to `path` are for generated text: they end in the engine's queue.
bool asks_for_text(std::string_view path);

/// Errors: kOverloaded, with advice; kInvalidRequest never (the handler reads the headers again).
Result<void> check_queue_at_head(const Service& service, const RequestHead& head,
                                 const RequestContext& context);

struct QueueQuestion {
  const RequestSchedule& schedule;
  const ClassWaits& waits;  ///< live
  AnswerShape shape = AnswerShape::kWhole;
  PriorityClass priority = PriorityClass::kStandard;
  std::uint32_t max_tokens = 0;     ///< of the answer
  std::uint32_t prompt_tokens = 0;  ///< of which some are cached, as those of others were
  std::size_t choices = 1;          ///< all or none of them
};

/// Errors: kOverloaded, with advice.
Result<void> check_queue_at_submit(const Service& service, const QueueQuestion& question);

/// Remembers when a request that was refused for overload is to come back, so that its repetitions
/// are refused at their head until then. Other errors are not remembered.
void note_refused(Service& service, const RequestHead& head, const RequestContext& context,
                  const Error& error);

/// The best class that a request may turn out to have, before its body is read.
PriorityClass best_class(const RequestTenant& tenant, std::string_view path);

/// For a refusal of which only is known that everything is taken: when an eighth of what waits will
/// have gone, half a second at least.
void advise_by_queue(const Service& service, Error& error);

/// Spreads the advice of an overloaded_error over time, says in its message what its headers say,
/// and counts its cause. Other errors stay as they are.
void tell_when_to_come_back(Service& service, Error& error);

/// The HTTP status of overloaded_error for a request: as its tenant, its wire profile or the
/// configuration says, in that order. `head` may be null.
int overload_status(const RequestHead* head, const RequestContext& context);

}  // namespace zerohop

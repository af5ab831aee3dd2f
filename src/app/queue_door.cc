#include "app/queue_door.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "app/handlers.h"
#include "app/request_context.h"

namespace zerohop {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAdviceMin{500};
constexpr milliseconds kAdviceMax{60'000};
constexpr int kAdvicePart = 8;
constexpr std::string_view kCausePrefix = "queue;";
constexpr std::string_view kRepeatRefusal = "queue;repeated";

DoorView view_of(const Service& service, TenantId tenant, PriorityClass priority) {
  Tier& tier = service.tier();
  return {tier.snapshot(), service.clock.now(),
          milliseconds(service.config.engine.itl_objective_ms),
          tier.loop().in_front(tenant, priority)};
}

Result<void> check_bounds(const Service& service, TenantId tenant, std::size_t requests) {
  const std::optional<QueueBound> bound = service.tier().loop().full_for(tenant, requests);
  if (!bound) return {};
  Error error{ErrorCode::kOverloaded, std::string(queue_bound_text(*bound)), "", kAdviceMin,
              queue_bound_detail(*bound)};
  advise_by_queue(service, error);
  return error;
}

bool place_free(const EngineSnapshot& engine) {
  return engine.running() + engine.queued + engine.parked_requests < engine.sequences_max;
}

// A repetition that comes before its time. A place that is free is never refused.
Result<void> check_repetition(const Service& service, const RequestHead& head,
                              const RequestContext& context) {
  const auto identity = repeat_identity(context.caller, head);
  if (!identity) return {};
  const Duration early = service.refused_repeats.too_early(*identity, service.clock.now());
  if (early == Duration::zero() || place_free(service.tier().snapshot())) return {};
  return Error{ErrorCode::kOverloaded,
               "this request was refused a moment ago, and comes back before its time", "",
               std::chrono::ceil<milliseconds>(early), kRepeatRefusal};
}

}  // namespace

bool asks_for_text(std::string_view path) {
  constexpr std::string_view kEndings[] = {"/messages", "/completions", "/responses"};
  return std::ranges::any_of(kEndings,
                             [path](std::string_view ending) { return path.ends_with(ending); });
}

// The head leaves the class open: the body may ask for another one.
PriorityClass best_class(const RequestTenant& tenant, std::string_view path) {
  return tenant.priority.value_or(is_openai_path(path) ? PriorityClass::kPriority
                                                       : PriorityClass::kStandard);
}

Result<void> check_queue_at_head(const Service& service, const RequestHead& head,
                                 const RequestContext& context) {
  if (!asks_for_text(head.path)) return {};
  ZH_RETURN_IF_ERROR(check_repetition(service, head, context));
  const RequestTenant& tenant = context.tenant;
  ZH_RETURN_IF_ERROR(check_bounds(service, tenant.tenant, 1));
  const PriorityClass best = best_class(tenant, head.path);
  const ClassWaits& waits = context.live->waits;
  Duration wait_max = waits[index_of(best)];
  // It may step back.
  if (is_openai_path(head.path)) wait_max = *std::max_element(waits.begin(), waits.end());
  const DoorView view = view_of(service, tenant.tenant, best);
  ZH_RETURN_IF_ERROR(check_wait(view, wait_max));
  const auto schedule = read_schedule(tenant, head, view.now);
  if (!schedule.ok() || !schedule->deadline) return {};
  return check_deadline(*schedule, AnswerShape::kStream, view);
}

Result<void> check_queue_at_submit(const Service& service, const QueueQuestion& question) {
  const TenantId tenant = question.schedule.tenant.tenant;
  if (question.choices > 1) ZH_RETURN_IF_ERROR(check_bounds(service, tenant, question.choices));
  DoorView view = view_of(service, tenant, question.priority);
  view.choices = question.choices;
  view.max_tokens = question.max_tokens;
  view.likely_uncached = service.tier().loop().likely_uncached(question.prompt_tokens);
  ZH_RETURN_IF_ERROR(check_wait(view, question.waits[index_of(question.priority)]));
  return check_deadline(question.schedule, question.shape, view);
}

void advise_by_queue(const Service& service, Error& error) {
  ServiceQuestion question;
  question.itl_objective = milliseconds(service.config.engine.itl_objective_ms);
  const auto estimate = estimate_service(service.tier().snapshot(), question);
  const Duration wait = estimate ? estimate->queue_wait / kAdvicePart : Duration(kAdviceMin);
  error.retry_after = std::clamp(std::chrono::ceil<milliseconds>(wait), kAdviceMin, kAdviceMax);
}

void tell_when_to_come_back(Service& service, Error& error) {
  if (error.code != ErrorCode::kOverloaded && error.code != ErrorCode::kShed) return;
  // What a repetition is told was spread when its request was refused.
  if (error.detail != kRepeatRefusal) {
    error.retry_after = service.retry_advice.spread(error.retry_after);
  }
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(error.retry_after).count();
  error.message += "; try again in " + std::to_string(seconds) + " s";
  if (error.detail.starts_with(kCausePrefix)) {
    service.queue_metrics.count_refusal(error.detail.substr(kCausePrefix.size()));
  }
}

void note_refused(Service& service, const RequestHead& head, const RequestContext& context,
                  const Error& error) {
  if (error.code != ErrorCode::kOverloaded || error.detail == kRepeatRefusal) return;
  if (!asks_for_text(head.path)) return;
  const auto identity = repeat_identity(context.caller, head);
  if (!identity) return;
  const TimePoint now = service.clock.now();
  // Two requests may look alike: nobody waits for longer than it was told because the other came.
  const Duration told = service.refused_repeats.too_early({identity->hash, true}, now);
  Duration wait = error.retry_after;
  if (told > Duration::zero()) wait = std::min(wait, told);
  service.refused_repeats.refused(*identity, now + wait);
}

int overload_status(const RequestHead* head, const RequestContext& context) {
  if (const auto own = context.caller.tenant->overload_status) return *own;
  OverloadStatus status = context.live->config.queue.overload_status;
  if (context.profile != nullptr) {
    status = context.profile->overload_status;
  } else if (head != nullptr && !is_openai_path(head->path)) {
    const std::string_view version = head->headers.find("anthropic-version").value_or("");
    status = context.live->wire_profiles.find(version).overload_status;
  }
  return status == OverloadStatus::k503 ? 503 : error_traits(ErrorCode::kOverloaded).status;
}

}  // namespace zerohop

#include "app/request_end.h"

#include <optional>
#include <utility>
#include <vector>

#include "api/error_body.h"
#include "app/queue_door.h"
#include "app/request_context.h"
#include "app/request_log.h"
#include "app/request_span.h"

namespace zerohop {
namespace {

// Only POST bodies make work; probes and lists are counted by their route alone. Null for those.
const RequestContext* model_request_of(const ExchangeSummary& summary) {
  const bool posted =
      summary.head != nullptr && summary.head->method == "POST" && !summary.route.empty();
  return posted ? context_of(summary.ticket) : nullptr;
}

// About the server: a client that left, or whose request was wrong, does not. Refusals for want of
// room or time do.
bool says_something(const RequestRecord& record) {
  if (record.state == RequestState::kCancelled) return false;
  return record.status < 400 || record.status >= 500 || record.status == 429 ||
         record.status == 408;
}

// What it says about the availability of the service; nothing where its client left or was wrong,
// limits of its own included.
std::optional<SloMetrics::Outcome> availability_of(const RequestContext& context,
                                                   const RequestRecord& record, ExchangeEnd end) {
  using Outcome = SloMetrics::Outcome;
  // A stream that was cut off by the server is none that its client left.
  if (end == ExchangeEnd::kAborted) return Outcome::kBad;
  if (record.state == RequestState::kDone) return Outcome::kGood;
  if (record.state == RequestState::kCancelled) return std::nullopt;
  const bool inside = record.status < 400 && context.notes.failure.has_value();
  const int status = inside ? error_traits(context.notes.failure->code).status : record.status;
  if (status >= 500) return Outcome::kBad;
  return std::nullopt;
}

// What the model is asked for. Tokens that are counted and batches that are made cost it nothing:
// they succeed while every answer fails, and an agent that counts before each turn would halve the
// share of its failures.
bool asks_the_model(std::string_view route) {
  return asks_for_text(route) || route.ends_with("/embeddings");
}

// Before its body was read, a request has the class of its tenant.
void count_availability(const RequestContext& context, const RequestRecord& record,
                        const ExchangeSummary& summary) {
  const SloMetrics* const slo = context.live == nullptr ? nullptr : context.live->slo.get();
  if (slo == nullptr || !asks_the_model(summary.route)) return;
  const auto outcome = availability_of(context, record, summary.end);
  if (!outcome) return;
  slo->count_request(served_class(context.tenant.priority, context.notes.priority), *outcome);
}

using StateTimes = std::vector<std::pair<std::string_view, Duration>>;

StateTimes states_of(const RequestRecord& record) {
  StateTimes states;
  for (std::size_t i = 0; i < kRequestStates; ++i) {
    const Duration time = record.in_state[i];
    const auto state = static_cast<RequestState>(i);
    if (time > Duration::zero()) states.emplace_back(request_state_name(state), time);
  }
  return states;
}

void count(Service& service, const RequestContext& context, const RequestRecord& record) {
  const StateTimes states = states_of(record);
  FinishedRequest finished;
  finished.tenant = record.tenant;
  finished.status = record.status;
  finished.ok = record.state == RequestState::kDone;
  finished.counts = says_something(record);
  if (context.notes.failure) {
    finished.error_type = anthropic_error_type(context.notes.failure->code);
  }
  finished.total = record.total;
  finished.states = states;
  finished.input_tokens = record.usage.prompt_tokens_computed();
  finished.cached_tokens = record.usage.prompt_tokens_cached;
  finished.output_tokens = record.usage.output_tokens;
  finished.labels = record.labels;
  service.request_metrics.count(finished);
  for (const ToolResultNote& result : context.notes.tool_results) {
    using Outcome = RequestMetrics::ToolOutcome;
    service.request_metrics.count_tool_result(result.tool,
                                              result.ok ? Outcome::kOk : Outcome::kError);
  }
}

}  // namespace

void finish_request(Service& service, const ExchangeSummary& summary) {
  RequestRecord record = record_of(service, summary);
  const RequestContext* context = model_request_of(summary);
  if (context != nullptr) {
    count(service, *context, record);
    count_availability(*context, record, summary);
  }
  log_record(record);
  // Strangers cannot push out what is remembered of those who have a key.
  const bool known = !service.keys.asks_for_keys() || !record.key.empty();
  if (!known) return;
  const RequestContext* traced = context_of(summary.ticket);
  if (traced != nullptr && traced->trace.exported) {
    service.spans.add(span_of(service, summary, *traced, record));
  }
  if (context != nullptr) service.history.add(std::move(record));
}

}  // namespace zerohop

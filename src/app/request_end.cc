#include "app/request_end.h"

#include <utility>
#include <vector>

#include "api/error_body.h"
#include "app/request_context.h"
#include "app/request_log.h"

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
  if (context != nullptr) count(service, *context, record);
  log_record(record);
  if (context == nullptr) return;
  // Strangers cannot push out what is remembered of those who have a key.
  const bool known = !service.keys.asks_for_keys() || !record.key.empty();
  if (known) service.history.add(std::move(record));
}

}  // namespace zerohop

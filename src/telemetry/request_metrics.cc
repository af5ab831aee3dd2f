#include "telemetry/request_metrics.h"

#include <algorithm>
#include <limits>

namespace zerohop {
namespace {

std::string_view status_class(int status) {
  if (status >= 500) return "5xx";
  if (status >= 400) return "4xx";
  return status == 0 ? "none" : "2xx";
}

}  // namespace

WindowedGauges::Series& WindowedGauges::series_of(std::string_view label) {
  const auto found = series_.find(std::string(label));
  if (found != series_.end()) return *found->second;
  const bool full = series_.size() + 1 >= series_max_;
  if (full && label != MetricsRegistry::kOverflowLabel) {
    return series_of(MetricsRegistry::kOverflowLabel);
  }
  auto made = std::make_unique<Series>();
  made->gauge = registry_.gauge(family_, {label});
  made->gauge.set(std::numeric_limits<double>::quiet_NaN());
  return *series_.emplace(std::string(label), std::move(made)).first->second;
}

void WindowedGauges::observe(std::string_view label, double value, TimePoint now) {
  series_of(label).window.observe(value, now);
}

void WindowedGauges::publish(TimePoint now) {
  for (const auto& [label, series] : series_) series->gauge.set(series->window.read(now));
}

RequestMetrics::RequestMetrics(MetricsRegistry& registry, const Clock& clock,
                               std::size_t series_max)
    : registry_(registry),
      clock_(clock),
      success_rates_(registry, "chat_completion_success_rate", series_max),
      answer_lengths_(registry, "avg_tokens_per_response", series_max),
      tool_rates_(registry, "tool_call_success_rate", series_max) {
  registry.at_scrape([this] {
    const TimePoint now = clock_.now();
    success_rates_.publish(now);
    answer_lengths_.publish(now);
    tool_rates_.publish(now);
  });
}

void RequestMetrics::count(const FinishedRequest& request) {
  registry_.histogram("anthropic_direct_request_duration_seconds", {std::to_string(request.status)})
      .observe(request.total);
  if (!request.error_type.empty()) {
    registry_.counter("anthropic_direct_error_count", {request.error_type}).add();
  }
  for (const auto& [state, time] : request.states) {
    registry_.histogram("anthropic_kernel_state_seconds", {state}).observe(time);
  }
  count_tenant(request);
  count_labels(request);
}

void RequestMetrics::count_tenant(const FinishedRequest& request) {
  const std::string_view tenant = request.tenant;
  registry_.counter("zerohop_tenant_requests_total", {tenant, status_class(request.status)}).add();
  const auto count = [&](std::string_view kind, std::uint64_t tokens) {
    if (tokens > 0) registry_.counter("zerohop_tenant_tokens_total", {tenant, kind}).add(tokens);
  };
  count("input", request.input_tokens);
  count("cached", request.cached_tokens);
  count("output", request.output_tokens);
}

void RequestMetrics::count_labels(const FinishedRequest& request) {
  const TimePoint now = clock_.now();
  const std::string_view outcome = request.ok ? "ok" : "failed";
  for (const auto& [label, value] : request.labels) {
    registry_.counter("zerohop_label_requests_total", {label, value, outcome}).add();
    registry_.counter("zerohop_label_tokens_total", {label, value}).add(request.output_tokens);
    if (label == "channel" && request.counts) {
      success_rates_.observe(value, request.ok ? 1 : 0, now);
    }
    if (label == "intent" && request.ok) {
      answer_lengths_.observe(value, static_cast<double>(request.output_tokens), now);
    }
  }
}

void RequestMetrics::count_cost(std::string_view tenant, std::uint64_t microdollars) {
  if (microdollars == 0) return;
  registry_.counter("zerohop_tenant_cost_microdollars_total", {tenant}).add(microdollars);
}

void RequestMetrics::count_tool_result(std::string_view tool, ToolOutcome outcome) {
  tool_rates_.observe(tool, outcome == ToolOutcome::kOk ? 1 : 0, clock_.now());
}

}  // namespace zerohop

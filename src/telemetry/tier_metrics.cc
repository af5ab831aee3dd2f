#include "telemetry/tier_metrics.h"

#include <algorithm>
#include <limits>

namespace zerohop {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr std::string_view kStages = "cortex_cuda_stream_latency_seconds";

Gauge empty_gauge(MetricsRegistry& registry, std::string_view name, LabelValues values = {}) {
  Gauge gauge = registry.gauge(name, values);
  gauge.set(kNothing);
  return gauge;
}

}  // namespace

AnswerMetrics::AnswerMetrics(MetricsRegistry& registry, const Clock& clock, std::string_view tier)
    : clock_(clock),
      inference_(registry.histogram("anthropic_kernel_inference_ms")),
      first_token_(registry.histogram("anthropic_direct_stream_first_token_seconds")),
      write_(registry.histogram(kStages, {tier, "write"})),
      queue_gauge_(empty_gauge(registry, "zerohop_queue_max_seconds", {tier})),
      ttft_gauge_(empty_gauge(registry, "zerohop_ttft_max_seconds", {tier})),
      itl_gauge_(empty_gauge(registry, "zerohop_itl_max_seconds", {tier})),
      e2e_gauge_(empty_gauge(registry, "zerohop_e2e_max_seconds", {tier})),
      inference_p95_(empty_gauge(registry, "anthropic_kernel_inference_p95_ms")) {
  for (std::size_t i = 0; i < kPriorityClasses; ++i) {
    const std::string_view name = priority_class_name(static_cast<PriorityClass>(i));
    classes_[i] = {registry.histogram("zerohop_queue_seconds", {tier, name}),
                   registry.histogram("zerohop_ttft_seconds", {tier, name}),
                   registry.histogram("zerohop_itl_seconds", {tier, name}),
                   registry.histogram("zerohop_tpot_seconds", {tier, name}),
                   registry.histogram("zerohop_e2e_seconds", {tier, name})};
  }
  registry.at_scrape([this] { publish(); });
}

void AnswerMetrics::placed(PriorityClass priority, Duration waited) {
  classes_[index_of(priority)].queue.observe(waited);
  queue_max_.observe(to_seconds(waited), clock_.now());
}

void AnswerMetrics::first_text(PriorityClass priority, Duration since, Shape shape) {
  classes_[index_of(priority)].ttft.observe(since);
  ttft_max_.observe(to_seconds(since), clock_.now());
  if (shape == Shape::kStream) first_token_.observe(since);
}

void AnswerMetrics::next_text(PriorityClass priority, Duration gap) {
  classes_[index_of(priority)].itl.observe(gap);
  itl_max_.observe(to_seconds(gap), clock_.now());
}

void AnswerMetrics::ended(PriorityClass priority, const Ended& times) {
  ByClass& by_class = classes_[index_of(priority)];
  const TimePoint now = clock_.now();
  by_class.e2e.observe(times.since_request);
  e2e_max_.observe(to_seconds(times.since_request), now);
  inference_.observe(times.in_engine);
  inference_window_.observe(to_seconds(times.in_engine) * 1e3, now);
  if (times.tokens > 1) by_class.tpot.observe(times.text / (times.tokens - 1));
}

void AnswerMetrics::publish() {
  const TimePoint now = clock_.now();
  queue_gauge_.set(queue_max_.read(now));
  ttft_gauge_.set(ttft_max_.read(now));
  itl_gauge_.set(itl_max_.read(now));
  e2e_gauge_.set(e2e_max_.read(now));
  inference_p95_.set(inference_window_.read(0.95, now));
}

StepMetrics::StepMetrics(MetricsRegistry& registry, const Clock& clock, const TierFacts& facts)
    : clock_(clock),
      sequences_(std::max(1u, facts.sequences)),
      model_bytes_(static_cast<double>(facts.model_bytes)),
      cell_bytes_(static_cast<double>(facts.kv_bytes_per_cell)),
      step_(registry.histogram("zerohop_engine_step_seconds")),
      compact_(registry.histogram("anthropic_kernel_kv_cache_compact_seconds")),
      prefill_(registry.histogram(kStages, {facts.model, "prefill"})),
      decode_(registry.histogram(kStages, {facts.model, "decode"})),
      sample_(registry.histogram(kStages, {facts.model, "sample"})),
      mask_(registry.histogram(kStages, {facts.model, "mask"})),
      step_gauge_(empty_gauge(registry, "zerohop_engine_step_max_seconds")),
      fragmentation_p95_(empty_gauge(registry, "anthropic_kernel_kv_cache_fragmentation_p95")),
      fragmentation_ratio_(registry.gauge("anthropic_instance_gpu_memory_fragmentation_ratio")),
      busy_instance_(registry.gauge("anthropic_instance_gpu_utilization")),
      busy_model_(registry.gauge("cortex_gpu_utilization", {facts.model})),
      occupancy_(registry.gauge("anthropic_kernel_gpu_memory_utilization_percent")),
      memory_used_(registry.gauge("anthropic_instance_gpu_memory_used_bytes")),
      memory_total_(registry.gauge("anthropic_instance_gpu_memory_total_bytes")),
      since_(clock.now()) {}

void StepMetrics::step(const StepTimes& times) {
  const TimePoint now = clock_.now();
  step_.observe(times.pass);
  step_max_.observe(to_seconds(times.pass), now);
  fragmentation_window_.observe(times.fragmentation, now);
  (times.kind == StepTimes::Kind::kDecode ? decode_ : prefill_).observe(times.pass);
  if (times.sample > Duration::zero()) sample_.observe(times.sample);
  if (times.mask > Duration::zero()) mask_.observe(times.mask);
  const double fill = std::min(1.0, static_cast<double>(times.rows) / sequences_);
  const double weighted = static_cast<double>(times.pass.count()) * fill;
  stepped_.fetch_add(times.pass.count(), std::memory_order_relaxed);
  filled_.fetch_add(static_cast<std::int64_t>(weighted), std::memory_order_relaxed);
}

void StepMetrics::publish(const EngineSnapshot& engine) {
  const TimePoint now = clock_.now();
  step_gauge_.set(step_max_.read(now));
  fragmentation_p95_.set(fragmentation_window_.read(0.95, now));
  fragmentation_ratio_.set(engine.fragmentation);
  publish_load(engine, now);
  publish_memory(engine);
}

// Shares of less than a second would jump between nothing and everything, so they stay until one
// has passed. A step is counted when it ends, perhaps with a part that belongs to the interval
// before: a share is cut at 1.
void StepMetrics::publish_load(const EngineSnapshot& engine, TimePoint now) {
  const double elapsed = to_seconds(now - since_);
  if (elapsed >= 1.0) {
    const std::int64_t stepped = stepped_.load(std::memory_order_relaxed);
    const std::int64_t filled = filled_.load(std::memory_order_relaxed);
    busy_share_ = std::clamp(to_seconds(engine.busy - busy_before_) / elapsed, 0.0, 1.0);
    const auto steps = static_cast<double>(stepped - stepped_before_);
    fill_ = steps <= 0 ? 0.0 : std::min(1.0, static_cast<double>(filled - filled_before_) / steps);
    since_ = now;
    busy_before_ = engine.busy;
    stepped_before_ = stepped;
    filled_before_ = filled;
  }
  busy_instance_.set(busy_share_);
  busy_model_.set(busy_share_);
  occupancy_.set(100 * busy_share_ * fill_);
}

void StepMetrics::publish_memory(const EngineSnapshot& engine) {
  const double held = static_cast<double>(engine.cells_active) + engine.cells_cached;
  const double total = engine.cells_total;
  memory_used_.set(model_bytes_ + cell_bytes_ * std::min(held, total));
  memory_total_.set(model_bytes_ + cell_bytes_ * total);
}

PromptMetrics::PromptMetrics(MetricsRegistry& registry)
    : latency_(registry.histogram("anthropic_kernel_tokenizer_latency_ms")),
      score_(empty_gauge(registry, "anthropic_kernel_tokenizer_adaptation_score")) {
  registry.at_scrape([this] {
    const auto bytes = static_cast<double>(bytes_.load(std::memory_order_relaxed));
    const auto tokens = static_cast<double>(tokens_.load(std::memory_order_relaxed));
    score_.set(bytes <= 0 ? kNothing : std::clamp(1 - tokens / bytes, 0.0, 1.0));
  });
}

void PromptMetrics::prepared(Duration took, std::uint64_t tokens, std::uint64_t bytes) {
  latency_.observe(took);
  tokens_.fetch_add(tokens, std::memory_order_relaxed);
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
}

}  // namespace zerohop

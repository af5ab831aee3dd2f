#include "telemetry/inference_extension.h"

#include <algorithm>
#include <array>

namespace zerohop {
namespace {

constexpr MetricKind kGauge = MetricKind::kGauge;

constexpr std::array kTable{
    MetricSpec{"vllm:num_requests_waiting",
               kGauge,
               MetricUnit::kNone,
               {"model_name"},
               "Requests that wait for a place."},
    MetricSpec{"vllm:num_requests_running",
               kGauge,
               MetricUnit::kNone,
               {"model_name"},
               "Requests that are computed."},
    MetricSpec{"vllm:kv_cache_usage_perc",
               kGauge,
               MetricUnit::kRatio,
               {"model_name"},
               "Share of the KV cells that running requests hold or were promised, 0 to 1."},
    MetricSpec{"vllm:gpu_cache_usage_perc",
               kGauge,
               MetricUnit::kRatio,
               {"model_name"},
               "The same number under its older name."},
    MetricSpec{"vllm:cache_config_info",
               kGauge,
               MetricUnit::kNone,
               {"model_name", "block_size", "num_gpu_blocks"},
               "Always 1; the labels tell the size of the KV cache. A block is one cell."},
};

}  // namespace

std::string inference_extension_text(const MetricsIdentity& identity, std::string_view model,
                                     const EngineSnapshot& engine) {
  MetricsRegistry registry(identity, kTable);
  const double held = static_cast<double>(engine.cells_active) + engine.cells_reserved;
  const double usage = engine.cells_total == 0 ? 0.0 : std::min(1.0, held / engine.cells_total);
  registry.gauge("vllm:num_requests_waiting", {model}).set(engine.queued);
  registry.gauge("vllm:num_requests_running", {model}).set(engine.running());
  registry.gauge("vllm:kv_cache_usage_perc", {model}).set(usage);
  registry.gauge("vllm:gpu_cache_usage_perc", {model}).set(usage);
  const std::string cells = std::to_string(engine.cells_total);
  registry.gauge("vllm:cache_config_info", {model, "1", cells}).set(1);
  return registry.render();
}

}  // namespace zerohop

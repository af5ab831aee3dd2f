#include "telemetry/metrics_markdown.h"

#include <string_view>

#include "telemetry/metric_table.h"
#include "telemetry/prometheus_text.h"
#include "telemetry/registry.h"

namespace zerohop {
namespace {

std::string label_list(const MetricSpec& spec) {
  std::string out;
  for (const std::string_view label : spec.labels()) {
    if (!out.empty()) out.append(", ");
    out.append("`").append(label).append("`");
  }
  return out.empty() ? "–" : out;
}

std::string bucket_list() {
  std::string out;
  for (const Duration bound : kHistogramBounds) {
    if (!out.empty()) out.append(", ");
    out.append(format_number(to_seconds(bound)));
  }
  return out;
}

}  // namespace

std::string metrics_markdown() {
  std::string out =
      "# Metrics\n"
      "\n"
      "Generated from `src/telemetry/metric_table_*.cc`; a test compares the two. To write it "
      "anew:\n"
      "`ZEROHOP_GOLDEN_UPDATE=1 ./dev test telemetry`.\n"
      "\n"
      "`GET /metrics` answers in the Prometheus text format. Every series carries the labels "
      "`instance_id`\n"
      "and `pool` besides those named here. A family holds at most `metrics.series_max` series (" +
      std::to_string(MetricsRegistry::kSeriesPerFamilyMax) +
      ");\nfurther label values are counted together under `" +
      std::string(MetricsRegistry::kOverflowLabel) +
      "`. A gauge that has no value now is left out.\n"
      "\n"
      "Upper edges of the histogram buckets, in seconds: " +
      bucket_list() +
      "\n(and `+Inf`); families in milliseconds use the same edges × 1000.\n"
      "\n"
      "| Name | Kind | Unit | Labels | Meaning |\n"
      "|---|---|---|---|---|\n";
  for (const MetricSpec& spec : metric_table()) {
    out.append("| `").append(spec.name).append("` | ").append(metric_kind_name(spec.kind));
    out.append(" | ").append(metric_unit_name(spec.unit)).append(" | ").append(label_list(spec));
    out.append(" | ").append(spec.help).append(" |\n");
  }
  return out;
}

}  // namespace zerohop

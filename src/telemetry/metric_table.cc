#include "telemetry/metric_table.h"

#include <algorithm>
#include <vector>

#include "telemetry/metric_table_parts.h"

namespace zerohop {

std::span<const std::string_view> MetricSpec::labels() const {
  const auto end = std::find(label_names.begin(), label_names.end(), std::string_view{});
  return {label_names.begin(), end};
}

std::span<const MetricSpec> metric_table() {
  static const std::vector<MetricSpec> all = [] {
    std::vector<MetricSpec> joined;
    for (const auto part : {service_metric_specs(), answer_metric_specs(), engine_metric_specs(),
                            known_name_metric_specs()}) {
      joined.insert(joined.end(), part.begin(), part.end());
    }
    return joined;
  }();
  return all;
}

std::string_view metric_kind_name(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter: return "counter";
    case MetricKind::kGauge: return "gauge";
    case MetricKind::kHistogram: break;
  }
  return "histogram";
}

std::string_view metric_unit_name(MetricUnit unit) {
  switch (unit) {
    case MetricUnit::kNone: break;
    case MetricUnit::kSeconds: return "seconds";
    case MetricUnit::kMilliseconds: return "milliseconds";
    case MetricUnit::kTokens: return "tokens";
    case MetricUnit::kCells: return "cells";
    case MetricUnit::kBytes: return "bytes";
    case MetricUnit::kRatio: return "ratio";
    case MetricUnit::kPercent: return "percent";
    case MetricUnit::kTokensPerSecond: return "tokens/s";
  }
  return "–";
}

}  // namespace zerohop

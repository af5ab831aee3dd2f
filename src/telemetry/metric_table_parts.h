// The parts that metric_table.cc joins. Internal to telemetry/metric_table*.cc.
#pragma once

#include <span>

#include "telemetry/metric_table.h"

namespace zerohop {

inline constexpr MetricKind kCounter = MetricKind::kCounter;
inline constexpr MetricKind kGauge = MetricKind::kGauge;
inline constexpr MetricKind kHistogram = MetricKind::kHistogram;

/// Connections, requests, keys, tenants.
std::span<const MetricSpec> service_metric_specs();
/// Requests and answers: times, tokens, labels.
std::span<const MetricSpec> answer_metric_specs();
/// Steps, cells, cache, pressure, constraints.
std::span<const MetricSpec> engine_metric_specs();
/// Names that existing dashboards know.
std::span<const MetricSpec> known_name_metric_specs();

}  // namespace zerohop

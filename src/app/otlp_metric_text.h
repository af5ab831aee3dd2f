// The metrics of a registry as an OTLP request (ExportMetricsServiceRequest, JSON form).
//
//   counter    sum, cumulative and monotonic      one data point for each series, its labels as
//   gauge      gauge; without one that is NaN     attributes; what every series carries
//   histogram  histogram with explicit bounds     (instance_id, pool) stands in the resource
//
// Families keep the names of the metrics page, and bounds and sums the unit in the name. An edge
// belongs to the bucket below it there and here. Pure; any thread.
#pragma once

#include <string>

#include "app/otlp_text.h"
#include "base/clock.h"
#include "telemetry/registry.h"

namespace zerohop {

struct MetricTimes {
  WallTime started;  ///< since when the registry counts
  WallTime now;
};

/// With the numbers of the registry's last refresh().
std::string otlp_metric_text(const MetricsRegistry& registry, const MetricTimes& times,
                             const otlp::Resource& resource);

}  // namespace zerohop

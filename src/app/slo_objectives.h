// The objectives of the configuration, read:
//
//   slo:
//     objectives:
//       availability:  {indicator: availability, target: 0.999}
//       ttft-standard: {indicator: ttft, class: standard, threshold_ms: 3000, target: 0.99}
//       pauses:        {indicator: itl, threshold_ms: 1000, target: 0.99}
//       total:         {indicator: total, tier: smollm2-135m, threshold_ms: 60000, target: 0.95}
//
// What counts for each indicator stands in telemetry/slo_metrics.h. The same section is read by
// deploy/prometheus/slo_rules.py, which makes alerts of it, by the same rules (a test holds the two
// against each other).
//
// Pure functions; any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/config.h"
#include "core/error.h"
#include "telemetry/slo_metrics.h"

namespace zerohop {

/// A rule of config_table.h for their names: they become labels and parts of alerts.
std::optional<std::string> objective_name_rule(std::string_view text);

/// In the order of their names. Errors: kConfiguration, naming slo.objectives and the objective (a
/// member that is none or absurd; two that measure the same; more series than one family may have).
Result<std::vector<SloObjective>> slo_objectives(const Config& config);

/// Each tier that they name must run. Errors: kConfiguration.
Result<void> check_objective_tiers(const std::vector<SloObjective>& objectives,
                                   std::string_view tier);

/// Their counters; null: there is none to count for.
std::shared_ptr<const SloMetrics> make_slo_metrics(MetricsRegistry& registry,
                                                   const std::vector<SloObjective>& objectives,
                                                   std::string_view tier);

}  // namespace zerohop

// The families of constraints in the engine: the part of export_engine_snapshot() (metrics.h) that
// copies them. What the compiler of constraints feeds is in metrics.h. Used on the scraping thread.
#pragma once

#include <functional>

#include "core/snapshot.h"
#include "telemetry/registry.h"

namespace zerohop {

/// Fetches the handles now; what it returns copies a snapshot into them and must not outlive
/// `registry`.
std::function<void(const EngineSnapshot&)> copy_into_constraint_families(MetricsRegistry& registry);

}  // namespace zerohop

// The families of the prefix cache, the pressure ladder and parked requests: the part of
// export_engine_snapshot() (metrics.h) that copies them. Used on the scraping thread.
#pragma once

#include <functional>
#include <string_view>

#include "core/snapshot.h"
#include "telemetry/registry.h"

namespace zerohop {

/// Fetches the handles now; what it returns copies a snapshot into them and must not outlive
/// `registry`. `model` is a label.
std::function<void(const EngineSnapshot&)> copy_into_cache_families(MetricsRegistry& registry,
                                                                    std::string_view model);

}  // namespace zerohop

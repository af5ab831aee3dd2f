// The few numbers that inference routers of the Kubernetes Gateway API look for in a model server,
// under the names that they know. Source: "Model Server Protocol" of gateway-api-inference-
// extension; the names are those of its default engine.
#pragma once

#include <string>
#include <string_view>

#include "core/snapshot.h"
#include "telemetry/registry.h"

namespace zerohop {

/// A page in the Prometheus text format. Pure; any thread.
std::string inference_extension_text(const MetricsIdentity& identity, std::string_view model,
                                     const EngineSnapshot& engine);

}  // namespace zerohop

// The parts of a running server, for its handlers and hooks to refer to. Owned by the Server
// (server.h); everything here outlives every exchange.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "admission/admission.h"
#include "api/model_list.h"
#include "api/parse_options.h"
#include "app/config.h"
#include "app/tier.h"
#include "app/worker_pool.h"
#include "base/check.h"
#include "base/clock.h"
#include "telemetry/metrics.h"
#include "telemetry/registry.h"

namespace zerohop {

struct Service {
  Service(const Config& config_in, const Clock& clock_in);

  // Constant while the server runs
  const Config config;
  const Clock& clock;
  const ParseOptions parse_options;
  std::vector<ModelDescription> models;  ///< set with the tier

  // Each with its own locking
  Admission admission;
  MetricsRegistry registry;
  Metrics metrics;
  WorkerPool workers;

  /// Set before the first request is accepted: addresses are bound before a model is loaded, so
  /// that a taken port is known at once.
  std::unique_ptr<Tier> loaded_tier;
  Tier& tier() const {
    ZH_CHECK(loaded_tier != nullptr);
    return *loaded_tier;
  }
};

}  // namespace zerohop

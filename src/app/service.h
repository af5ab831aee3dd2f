// The parts of a running server, for its handlers and hooks to refer to. Owned by the Server
// (server.h); everything here outlives every exchange.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "admission/address_limits.h"
#include "admission/admission.h"
#include "api/model_list.h"
#include "app/cache_misses.h"
#include "app/config.h"
#include "app/constraint_service.h"
#include "app/document_text.h"
#include "app/gateway_signs.h"
#include "app/health.h"
#include "app/instance_identity.h"
#include "app/key_gate.h"
#include "app/limit_service.h"
#include "app/model_preparation.h"
#include "app/request_profile.h"
#include "app/tier.h"
#include "app/wire_profile.h"
#include "app/worker_pool.h"
#include "base/check.h"
#include "base/clock.h"
#include "telemetry/metrics.h"
#include "telemetry/registry.h"

namespace zerohop {

class BatchService;
class KeyWatch;

struct Service {
  Service(const Config& config_in, const Clock& clock_in);
  ~Service();

  // Constant while the server runs
  const Config config;
  const Clock& clock;
  WireProfiles wire_profiles;  ///< set before the first request
  RequestProfiles profiles;    ///< likewise
  const DocumentLimits document_limits;
  const InstanceIdentity identity;
  std::vector<ModelDescription> models;  ///< set with the tier
  ModelPreparation preparation;          ///< set before the first request

  // Each with its own locking
  Admission admission;
  MetricsRegistry registry;
  Metrics metrics;
  ConstraintService constraints;
  WorkerPool workers;
  WorkerPool waiters;  ///< for work that waits for other processes

  // I/O thread
  CacheMisses misses;
  AddressLimits addresses;
  GatewaySightings gateways;
  ProgressWatch progress;
  KeyGate keys;
  LimitService limits;

  /// Set before the first request is accepted: addresses are bound before a model is loaded, so
  /// that a taken port is known at once.
  std::unique_ptr<Tier> loaded_tier;
  std::unique_ptr<BatchService> batches;  ///< null: no message batches
  std::unique_ptr<KeyWatch> key_watch;    ///< null: no key store
  Tier& tier() const {
    ZH_CHECK(loaded_tier != nullptr);
    return *loaded_tier;
  }
};

}  // namespace zerohop

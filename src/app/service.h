// The parts of a running server, for its handlers and hooks to refer to. Owned by the Server
// (server.h); everything here outlives every exchange.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "admission/address_limits.h"
#include "admission/admission.h"
#include "app/answer_joining.h"
#include "app/cache_misses.h"
#include "app/config.h"
#include "app/constraint_service.h"
#include "app/gateway_signs.h"
#include "app/health.h"
#include "app/key_gate.h"
#include "app/limit_service.h"
#include "app/live_config.h"
#include "app/live_requests.h"
#include "app/machine_rates.h"
#include "app/model_preparation.h"
#include "app/refused_repeats.h"
#include "app/request_history.h"
#include "app/request_trace.h"
#include "app/retry_advice.h"
#include "app/span_queue.h"
#include "app/tier.h"
#include "app/worker_pool.h"
#include "base/check.h"
#include "base/clock.h"
#include "telemetry/metrics.h"
#include "telemetry/queue_metrics.h"
#include "telemetry/registry.h"
#include "telemetry/request_metrics.h"
#include "telemetry/tier_metrics.h"

namespace zerohop {

class BatchService;
class KeyWatch;

struct Service {
  Service(const Config& config_in, const Clock& clock_in);
  ~Service();

  // Constant while the server runs
  const Config config;  ///< of the start: for keys that only a restart changes
  const Clock& clock;
  const WallTime began;          ///< since when metrics are counted
  ModelPreparation preparation;  ///< set before the first request
  MachineRates machine;          ///< likewise; zeros: not measured

  // Each with its own locking
  LiveConfigSlot live;  ///< what may change; a request has its own (RequestContext::live)
  Admission admission;
  MetricsRegistry registry;
  Metrics metrics;
  RequestMetrics request_metrics;
  QueueMetrics queue_metrics;  ///< fed by the I/O thread
  ConstraintService constraints;
  WorkerPool workers;
  WorkerPool waiters;  ///< for work that waits for other processes

  // I/O thread
  CacheMisses misses;
  JoinableAnswers joinable;
  RetryAdvice retry_advice;
  RefusedRepeats refused_repeats;
  LiveRequests live_requests;
  RequestHistory history;
  AddressLimits addresses;
  GatewaySightings gateways;
  ProgressWatch progress;
  KeyGate keys;
  LimitService limits;
  RequestTracing tracing;
  SpanQueue spans;  ///< read by the exporter (otlp_exporter.h), which the server owns

  /// Set before the first request is accepted: addresses are bound before a model is loaded, so
  /// that a taken port is known at once.
  std::unique_ptr<TierMetrics> tier_metrics;  ///< made with the tier, which feeds it
  std::unique_ptr<Tier> loaded_tier;
  std::unique_ptr<BatchService> batches;  ///< null: no message batches
  std::unique_ptr<KeyWatch> key_watch;    ///< null: no key store
  Tier& tier() const {
    ZH_CHECK(loaded_tier != nullptr);
    return *loaded_tier;
  }
};

}  // namespace zerohop

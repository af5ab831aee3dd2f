// What the queue in front of the engine feeds: how well it foresees the time to the first token,
// whom it refused and why, who joined a running answer. I/O thread; a scrape may come from any.
#pragma once

#include <algorithm>
#include <string_view>

#include "base/clock.h"
#include "telemetry/registry.h"

namespace zerohop {

class QueueMetrics {
 public:
  /// `registry` outlives this.
  explicit QueueMetrics(MetricsRegistry& registry)
      : registry_(registry),
        expected_(registry.histogram("zerohop_ttft_predicted_seconds")),
        late_(registry.histogram("zerohop_ttft_prediction_error_seconds", {"late"})),
        early_(registry.histogram("zerohop_ttft_prediction_error_seconds", {"early"})),
        joined_(registry.counter("zerohop_requests_joined_total")) {}

  /// The first token of a request came after `real`, both from its submission.
  void first_token(Duration expected, Duration real) {
    expected_.observe(expected);
    const Duration error = std::max(real - expected, expected - real);
    (real > expected ? late_ : early_).observe(error);
  }

  /// `cause` is one of few.
  void count_refusal(std::string_view cause) {
    registry_.counter("zerohop_queue_refusals_total", {cause}).add();
  }

  void count_joined() { joined_.add(); }

 private:
  MetricsRegistry& registry_;
  Histogram expected_, late_, early_;
  Counter joined_;
};

}  // namespace zerohop

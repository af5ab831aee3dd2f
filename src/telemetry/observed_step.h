// What the metrics take note of in one step of eight answers that get a token each, for benchmarks
// of exactly that. One thread.
#pragma once

#include <chrono>

#include "telemetry/tier_metrics.h"

namespace zerohop {

class ObservedStep {
 public:
  static constexpr int kAnswers = 8;

  /// Both must outlive this.
  ObservedStep(MetricsRegistry& registry, const Clock& clock)
      : tier_(registry, clock, {.model = "small", .sequences = kAnswers}) {}

  void note() {
    // Every step falls into another bucket than the one before.
    gap_ += std::chrono::microseconds(37);
    if (gap_ > std::chrono::milliseconds(100)) gap_ = Duration::zero();
    StepTimes times;
    times.kind = StepTimes::Kind::kDecode;
    times.pass = gap_;
    times.sample = std::chrono::microseconds(300);
    times.rows = kAnswers;
    tier_.steps.step(times);
    for (int i = 0; i < kAnswers; ++i) {
      tier_.answers.next_text(PriorityClass::kStandard, gap_);
      tier_.answers.written(std::chrono::microseconds(4));
    }
  }

 private:
  TierMetrics tier_;
  Duration gap_{};
};

}  // namespace zerohop

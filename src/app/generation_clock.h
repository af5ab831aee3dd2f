// Times one generation as its client sees it and feeds the histograms: queue time, time to the
// first token (TTFT), gaps between bursts (ITL), the whole. I/O thread only.
#pragma once

#include <optional>

#include "base/clock.h"
#include "core/event.h"
#include "telemetry/metrics.h"
#include "telemetry/tier_metrics.h"

namespace zerohop {

class GenerationClock {
 public:
  /// `received_at`: first byte of the request. Both references outlive this.
  GenerationClock(const Clock& clock, AnswerMetrics& metrics, TimePoint received_at)
      : clock_(clock), metrics_(metrics), received_at_(received_at) {}

  /// As what it is timed, from before its first event.
  void serve_as(PriorityClass priority, AnswerMetrics::Shape shape) {
    priority_ = priority;
    shape_ = shape;
  }

  void note(const Event& event);

  /// How far it has come.
  CancelPhase phase() const;

  /// From acceptance by the engine to a place in a batch; nothing: it has none yet.
  std::optional<Duration> queued() const { return queued_; }
  /// From the first byte of the request to the first text; nothing: there was none.
  std::optional<Duration> first_text() const;

 private:
  const Clock& clock_;
  AnswerMetrics& metrics_;
  const TimePoint received_at_;
  std::optional<TimePoint> started_at_;
  std::optional<TimePoint> first_text_at_;
  std::optional<TimePoint> last_text_at_;
  std::optional<Duration> queued_;
  PriorityClass priority_ = PriorityClass::kStandard;
  AnswerMetrics::Shape shape_ = AnswerMetrics::Shape::kWhole;
};

}  // namespace zerohop

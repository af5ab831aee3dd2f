// Times one generation and feeds the histograms: queue time, time to the first token (TTFT), gaps
// between bursts (ITL), the whole. A streamed answer as its client sees it; a whole one, which is
// read at its end, by when the engine said each part of it. I/O thread only.
#pragma once

#include <optional>

#include "base/clock.h"
#include "core/event.h"
#include "telemetry/metrics.h"
#include "telemetry/slo_metrics.h"
#include "telemetry/tier_metrics.h"

namespace zerohop {

class GenerationClock {
 public:
  /// `received_at`: first byte of the request. `metrics` outlives this.
  GenerationClock(AnswerMetrics& metrics, TimePoint received_at)
      : metrics_(metrics), received_at_(received_at) {}

  /// As what it is timed, from before its first event.
  void serve_as(PriorityClass priority, AnswerMetrics::Shape shape) {
    priority_ = priority;
    shape_ = shape;
  }

  /// `event` came at that time, no earlier than the one before.
  void note(const Event& event, TimePoint at);
  /// Its reader's socket took no bytes for so long, behind what was noted last.
  void note_lag(Duration lag);

  /// How far it has come.
  CancelPhase phase() const;

  /// From acceptance by the engine to a place in a batch; nothing: it has none yet.
  std::optional<Duration> queued() const { return queued_; }
  /// From the first byte of the request to the first text; nothing: there was none.
  std::optional<Duration> first_text() const;
  /// Likewise to the last one so far.
  std::optional<Duration> last_text() const;
  /// What objectives count of it, when it ends at `at`.
  AnswerForSlo for_slo(AnswerForSlo::End end, TimePoint at) const;

 private:
  Duration pause_until(TimePoint at) const { return at - *last_text_at_ - lag_; }

  AnswerMetrics& metrics_;
  const TimePoint received_at_;
  std::optional<TimePoint> started_at_;
  std::optional<TimePoint> first_text_at_;
  std::optional<TimePoint> last_text_at_;
  std::optional<Duration> queued_;
  Duration longest_pause_{};
  Duration lag_{};      // since last_text_at_
  Duration lag_all_{};  // up to then, and since
  PriorityClass priority_ = PriorityClass::kStandard;
  AnswerMetrics::Shape shape_ = AnswerMetrics::Shape::kWhole;
};

}  // namespace zerohop

// Times one generation as its client sees it and feeds the histograms: queue time, time to the
// first token (TTFT), gaps between bursts (ITL), the whole. I/O thread only.
#pragma once

#include <optional>

#include "base/clock.h"
#include "core/event.h"
#include "telemetry/metrics.h"

namespace zerohop {

class GenerationClock {
 public:
  /// `received_at`: first byte of the request. Both references outlive this.
  GenerationClock(const Clock& clock, Metrics& metrics, TimePoint received_at)
      : clock_(clock), metrics_(metrics), received_at_(received_at) {}

  void note(const Event& event);

  /// How far it has come.
  CancelPhase phase() const;

 private:
  const Clock& clock_;
  Metrics& metrics_;
  const TimePoint received_at_;
  std::optional<TimePoint> started_at_;
  std::optional<TimePoint> last_text_at_;
};

}  // namespace zerohop

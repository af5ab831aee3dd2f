#include "app/generation_clock.h"

namespace zerohop {

void GenerationClock::note(const Event& event) {
  const TimePoint now = clock_.now();
  if (const auto* started = std::get_if<Started>(&event)) {
    started_at_ = now;
    metrics_.queue_seconds.observe(started->queue_time);
  } else if (std::holds_alternative<TextDelta>(event)) {
    if (last_text_at_) {
      metrics_.itl_seconds.observe(now - *last_text_at_);
    } else {
      metrics_.ttft_seconds.observe(now - received_at_);
    }
    last_text_at_ = now;
  } else if (std::holds_alternative<Finished>(event)) {
    metrics_.e2e_seconds.observe(now - received_at_);
    metrics_.inference_ms.observe(now - started_at_.value_or(received_at_));
  }
}

CancelPhase GenerationClock::phase() const {
  if (last_text_at_) return CancelPhase::kDecode;
  return started_at_ ? CancelPhase::kPrefill : CancelPhase::kQueued;
}

}  // namespace zerohop

#include "app/generation_clock.h"

namespace zerohop {
namespace {

// Whatever a client gets to see of an answer: its thoughts and its calls as well as its text.
bool is_output(const Event& event) {
  return std::holds_alternative<TextDelta>(event) || std::holds_alternative<ThinkingDelta>(event) ||
         std::holds_alternative<ToolCallStarted>(event) ||
         std::holds_alternative<ToolCallDelta>(event);
}

}  // namespace

void GenerationClock::note(const Event& event) {
  const TimePoint now = clock_.now();
  if (const auto* started = std::get_if<Started>(&event)) {
    started_at_ = now;
    queued_ = started->queue_time;
    metrics_.placed(priority_, started->queue_time);
  } else if (is_output(event)) {
    if (last_text_at_) {
      metrics_.next_text(priority_, now - *last_text_at_);
    } else {
      first_text_at_ = now;
      metrics_.first_text(priority_, now - received_at_, shape_);
    }
    last_text_at_ = now;
  } else if (const auto* finished = std::get_if<Finished>(&event)) {
    metrics_.ended(priority_, {now - received_at_, now - started_at_.value_or(received_at_),
                               now - first_text_at_.value_or(now), finished->usage.output_tokens});
  }
}

CancelPhase GenerationClock::phase() const {
  if (last_text_at_) return CancelPhase::kDecode;
  return started_at_ ? CancelPhase::kPrefill : CancelPhase::kQueued;
}

std::optional<Duration> GenerationClock::first_text() const {
  if (!first_text_at_) return std::nullopt;
  return *first_text_at_ - received_at_;
}

}  // namespace zerohop

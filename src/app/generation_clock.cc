#include "app/generation_clock.h"

#include <algorithm>

namespace zerohop {
namespace {

// Whatever a client gets to see of an answer: its thoughts and its calls as well as its text.
bool is_output(const Event& event) {
  return std::holds_alternative<TextDelta>(event) || std::holds_alternative<ThinkingDelta>(event) ||
         std::holds_alternative<ToolCallStarted>(event) ||
         std::holds_alternative<ToolCallDelta>(event);
}

}  // namespace

void GenerationClock::note(const Event& event, TimePoint at) {
  // Of several choices one may be read a step later than another.
  at = std::max(at, last_text_at_.value_or(at));
  if (const auto* started = std::get_if<Started>(&event)) {
    started_at_ = at;
    queued_ = started->queue_time;
    metrics_.placed(priority_, started->queue_time);
  } else if (is_output(event)) {
    if (last_text_at_) {
      metrics_.next_text(priority_, at - *last_text_at_);
      longest_pause_ = std::max(longest_pause_, pause_until(at));
    } else {
      first_text_at_ = at;
      metrics_.first_text(priority_, at - received_at_, shape_);
    }
    last_text_at_ = at;
    lag_ = {};
  } else if (const auto* finished = std::get_if<Finished>(&event)) {
    metrics_.ended(priority_, {at - received_at_, at - started_at_.value_or(received_at_),
                               at - first_text_at_.value_or(at), finished->usage.output_tokens});
  }
}

void GenerationClock::note_lag(Duration lag) {
  lag_ += lag;
  lag_all_ += lag;
}

AnswerForSlo GenerationClock::for_slo(AnswerForSlo::End end, TimePoint at) const {
  AnswerForSlo answer;
  answer.priority = priority_;
  answer.end = end;
  answer.first_text = first_text();
  if (shape_ == AnswerMetrics::Shape::kStream && last_text_at_) {
    answer.longest_pause = std::max(longest_pause_, pause_until(at));
  }
  answer.total = at - received_at_ - lag_all_;
  return answer;
}

CancelPhase GenerationClock::phase() const {
  if (last_text_at_) return CancelPhase::kDecode;
  return started_at_ ? CancelPhase::kPrefill : CancelPhase::kQueued;
}

std::optional<Duration> GenerationClock::first_text() const {
  if (!first_text_at_) return std::nullopt;
  return *first_text_at_ - received_at_;
}

std::optional<Duration> GenerationClock::last_text() const {
  if (!last_text_at_) return std::nullopt;
  return *last_text_at_ - received_at_;
}

}  // namespace zerohop

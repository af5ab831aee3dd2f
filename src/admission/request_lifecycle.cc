#include "admission/request_lifecycle.h"

#include "base/check.h"

namespace zerohop {
namespace {

std::size_t index_of(RequestState state) { return static_cast<std::size_t>(state); }

}  // namespace

std::string_view request_state_name(RequestState state) {
  switch (state) {
    case RequestState::kIdle: return "idle";
    case RequestState::kReceiving: return "receiving";
    case RequestState::kValidating: return "validating";
    case RequestState::kInferring: return "inferring";
    case RequestState::kStreaming: return "streaming";
    case RequestState::kDone: return "done";
    case RequestState::kFailed: return "failed";
    case RequestState::kCancelled: return "cancelled";
  }
  return "unknown";
}

bool is_final(RequestState state) { return index_of(state) >= index_of(RequestState::kDone); }

bool can_advance(RequestState from, RequestState to) {
  if (is_final(from)) return false;
  if (to == RequestState::kFailed || to == RequestState::kCancelled) return true;
  if (from == RequestState::kValidating && to == RequestState::kDone) return true;
  return index_of(to) == index_of(from) + 1;
}

RequestLifecycle::RequestLifecycle(TimePoint now) {
  entered_.fill(kNever);
  left_.fill(kNever);
  entered_[index_of(RequestState::kIdle)] = now;
}

void RequestLifecycle::advance(RequestState to, TimePoint now) {
  ZH_CHECK(can_advance(state_, to));
  left_[index_of(state_)] = now;
  entered_[index_of(to)] = now;
  state_ = to;
}

std::optional<TimePoint> RequestLifecycle::entered_at(RequestState state) const {
  const TimePoint entered = entered_[index_of(state)];
  return entered == kNever ? std::nullopt : std::optional(entered);
}

std::optional<TimePoint> RequestLifecycle::left_at(RequestState state) const {
  const TimePoint left = left_[index_of(state)];
  return left == kNever ? std::nullopt : std::optional(left);
}

Duration RequestLifecycle::time_in(RequestState state, TimePoint now) const {
  const TimePoint entered = entered_[index_of(state)];
  if (entered == kNever) return Duration::zero();
  const TimePoint left = left_[index_of(state)];
  return (left == kNever ? now : left) - entered;
}

}  // namespace zerohop

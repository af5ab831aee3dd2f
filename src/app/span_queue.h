// Requests whose spans wait to be exported: a bounded queue whose oldest element goes when it is
// full, as the newest ones are what somebody is looking for now. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "app/request_span.h"

namespace zerohop {

class SpanQueue {
 public:
  /// `spans_max`: requests; 0 keeps nothing.
  explicit SpanQueue(std::size_t spans_max) : spans_max_(spans_max) {}

  /// `lost`: called for each request that goes unread, with the number of its spans. `full`: called
  /// when `full_at` wait, and with each one beyond; neither may call back.
  struct Watch {
    std::function<void(std::size_t spans)> lost;
    std::size_t full_at = 0;
    std::function<void()> full;
  };
  void watch(Watch watch) { watch_ = std::move(watch); }

  void add(SpanRecord span) {
    if (spans_max_ == 0) return;
    if (spans_.size() == spans_max_) {
      if (watch_.lost) watch_.lost(spans_.front().spans());
      spans_.pop_front();
    }
    spans_.push_back(std::move(span));
    if (watch_.full && spans_.size() >= watch_.full_at) watch_.full();
  }

  /// The oldest ones, at most `most`.
  std::vector<SpanRecord> take(std::size_t most) {
    const auto end = spans_.begin() + static_cast<std::ptrdiff_t>(std::min(most, spans_.size()));
    std::vector<SpanRecord> taken(std::make_move_iterator(spans_.begin()),
                                  std::make_move_iterator(end));
    spans_.erase(spans_.begin(), end);
    return taken;
  }

  std::size_t size() const { return spans_.size(); }

 private:
  const std::size_t spans_max_;
  std::deque<SpanRecord> spans_;  // the oldest one first
  Watch watch_;
};

}  // namespace zerohop

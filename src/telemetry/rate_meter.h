// RateMeter: turns a growing total into "per second", measured between two readings.
//
// Readings closer together than a second repeat the last rate: over a few milliseconds a burst of
// tokens would look like thousands per second. One reader at a time.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace zerohop {

class RateMeter {
 public:
  /// `clock` must outlive the meter. The first interval begins now, at a total of 0.
  explicit RateMeter(const Clock& clock) : clock_(clock), since_(clock.now()) {}

  /// Growth of `total` per second since the last reading that was at least a second ago. A total
  /// that shrank (its source was restarted) counts from 0.
  double read(std::uint64_t total) {
    const TimePoint now = clock_.now();
    const double seconds = to_seconds(now - since_);
    if (seconds < 1.0) return rate_;
    const std::uint64_t grown = total >= total_ ? total - total_ : total;
    rate_ = static_cast<double>(grown) / seconds;
    since_ = now;
    total_ = total;
    return rate_;
  }

 private:
  const Clock& clock_;
  TimePoint since_;
  std::uint64_t total_ = 0;
  double rate_ = 0;
};

}  // namespace zerohop

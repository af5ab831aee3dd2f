// A rate as a bucket that refills continuously: the generic cell rate algorithm (ITU-T I.371,
// annex A), without a lock.
//
// A bucket of L tokens a minute holds at most L. Instead of a level that a timer would fill, it
// keeps one number: the time at which it will be full again (TAT, the theoretical arrival time).
//
//      full again at TAT
//   now ────────┤             level = L − (TAT − now) · L/minute
//   ├───────────┴──────┤
//   │     one minute   │      taking n tokens moves TAT by n minutes/L, giving back moves it back
//
// Example, 60 a minute: after an idle time 60 may be taken at once; then TAT is a minute away and
// one more is there after each second.
//
// Time is counted in units so small that a token is a whole number of them: a minute has
// L · 2^shift units, between 2^39 and 2^40, so a token is exactly 2^shift units and a unit is 0.05
// to 0.11 ns. Hence nothing is rounded when tokens are taken or returned: L takes of one token
// empty the bucket exactly as one take of L does. Only the clock is rounded, down, to such a unit.
// In nanoseconds, which was tried first, the last of 7 tokens was refused.
//
// In any span of d seconds at most L + L·d/60 tokens leave the bucket (tested against a twin that
// calculates in 128 bits). A take is one load, one multiplication and one compare-and-swap.
//
// A clock that goes backwards gives nothing: TAT stays where it is.
//
// Any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace zerohop {

class Gcra {
 public:
  /// Full at first. `per_minute` 0: nothing ever leaves it; above kRateMax it counts as that.
  Gcra(std::uint64_t per_minute, TimePoint now);

  std::uint64_t per_minute() const { return per_minute_; }

  /// Takes `tokens` if all of them are there. 0 tokens always are.
  bool try_take(std::uint64_t tokens, TimePoint now);

  /// Takes `tokens` whether they are there or not; what is missing has to refill first. For what
  /// was used beyond what had been reserved.
  void charge(std::uint64_t tokens, TimePoint now);

  /// Returns tokens that were taken. A bucket that has filled up since stays full.
  void give_back(std::uint64_t tokens);

  /// Whole tokens that are there.
  std::uint64_t remaining(TimePoint now) const;

  /// How long until `tokens` are there if nobody takes any: zero when they are, Duration::max()
  /// when the bucket is too small for them. Rounded up to a nanosecond.
  Duration wait_for(std::uint64_t tokens, TimePoint now) const;

  /// How long until it is full.
  Duration full_in(TimePoint now) const { return wait_for(per_minute_, now); }

 private:
  std::int64_t units_at(TimePoint now) const;
  /// Saturates, far beyond any bucket.
  std::int64_t units_of(std::uint64_t tokens) const;
  /// Of TAT from `now`; 0 when it is in the past.
  std::int64_t behind(TimePoint now) const;

  // Constant
  const std::uint64_t per_minute_;
  const TimePoint epoch_;        // the first `now`
  const int shift_;              // 2^shift units are a token
  const std::int64_t capacity_;  // units of a full bucket, that is of a minute
  const std::uint64_t rate_;     // units per nanosecond, times 2^kRateBits

  // Atomic
  std::atomic<std::int64_t> full_at_{0};  // TAT, in units since epoch_
};

}  // namespace zerohop

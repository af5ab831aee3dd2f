// Time is passed in, never taken (docs/STYLE.md, rule 14): code that needs "now" holds a Clock&.
// SteadyClock is the real one; VirtualClock is wound by hand in tests and simulations.
// Both may be read from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace zerohop {

using Duration = std::chrono::nanoseconds;

/// A point on a monotonic axis. Its zero means nothing; only differences count.
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

/// Seconds and milliseconds since 1970, for what people and protocols read.
using WallTime = std::chrono::time_point<std::chrono::system_clock, Duration>;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;
  virtual WallTime wall() const = 0;
};

class SteadyClock final : public Clock {
 public:
  TimePoint now() const override;
  WallTime wall() const override;
};

/// Starts at zero and moves only by advance(). The wall clock starts at 2026-01-01 00:00:00 UTC.
class VirtualClock final : public Clock {
 public:
  TimePoint now() const override { return TimePoint(Duration(nanoseconds_.load())); }
  WallTime wall() const override;
  void advance(Duration step) { nanoseconds_.fetch_add(step.count()); }

 private:
  std::atomic<std::int64_t> nanoseconds_{0};
};

inline double to_milliseconds(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

inline double to_seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

inline Duration from_seconds(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

}  // namespace zerohop

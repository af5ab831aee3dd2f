#include "base/clock.h"

namespace zerohop {

TimePoint SteadyClock::now() const { return std::chrono::steady_clock::now(); }

WallTime SteadyClock::wall() const {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

WallTime VirtualClock::wall() const {
  constexpr std::chrono::seconds kNewYear2026{1767225600};
  return WallTime(kNewYear2026 + Duration(nanoseconds_.load()));
}

}  // namespace zerohop

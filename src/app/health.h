// Is the instance doing its work? Answered from the engine's latest snapshot, so it proves progress
// of the step loop and not only that a socket answers. Pure; any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "core/snapshot.h"

namespace zerohop {

/// There is work, and no step has ended for this long. The slowest honest step (a whole batch of
/// rows on one contended core) takes a few seconds.
inline constexpr std::chrono::seconds kStuckAfter{30};

enum class Health : std::uint8_t {
  kOk,
  kDegraded,  ///< works, but under pressure or after failures
  kDraining,  ///< finishes what it has, takes nothing new
  kStuck,     ///< work is there but no step ends
};

std::string_view health_name(Health health);

struct HealthInput {
  EngineSnapshot snapshot;
  Duration without_progress{};  ///< ProgressWatch::without_progress()
  bool draining = false;
};

Health judge_health(const HealthInput& input);

/// Since when the engine has had work without ending a step. A snapshot alone does not say: that of
/// an idle engine is old, and the first request after an idle hour would make it look stuck until
/// its first step has ended. So the beginning of work is noted by whoever looks, which every answer
/// of the server does. I/O thread only.
class ProgressWatch {
 public:
  /// What the engine has published by `now`.
  void note(const EngineSnapshot& snapshot, TimePoint now);
  Duration without_progress(TimePoint now) const {
    return waiting_since_ ? now - *waiting_since_ : Duration::zero();
  }

 private:
  TimePoint taken_at_{};
  std::optional<TimePoint> waiting_since_;  // nothing: there is no work
};

}  // namespace zerohop

// Is the instance doing its work? Answered from the engine's latest snapshot, so it proves progress
// of the step loop and not only that a socket answers. Pure; any thread.
#pragma once

#include <chrono>
#include <cstdint>
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
  TimePoint now{};
  bool draining = false;
};

Health judge_health(const HealthInput& input);

}  // namespace zerohop

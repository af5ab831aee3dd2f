// The one clock of the benchmarks.
#pragma once

#include <chrono>

namespace zerohop::bench {

/// Seconds on the steady clock.
inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace zerohop::bench

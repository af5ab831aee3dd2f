// Processor time of this thread: what others do on the machine meanwhile is not in it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace zerohop::bench {

inline std::int64_t cpu_now_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

inline std::int64_t steady_now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

/// What reading a clock twice in a row says: to be subtracted from every time taken with it.
template <class Now>
std::int64_t clock_cost_ns(const Now& now) {
  constexpr int kTries = 2'000;
  std::int64_t differences[kTries];
  for (std::int64_t& difference : differences) {
    const std::int64_t begin = now();
    difference = now() - begin;
  }
  std::nth_element(differences, differences + kTries / 2, differences + kTries);
  return differences[kTries / 2];
}

}  // namespace zerohop::bench

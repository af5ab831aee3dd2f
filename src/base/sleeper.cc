#include "base/sleeper.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>

namespace zerohop {
namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

timespec timespec_of(Duration time) {
  time = std::max(time, Duration::zero());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  timespec out{};
  out.tv_sec = seconds.count();
  out.tv_nsec = (time - seconds).count();
  return out;
}

}  // namespace

// A time-out of FUTEX_WAIT counts from now, on the monotonic clock.
void Sleeper::await_wake(std::optional<Duration> time) {
  timespec left{};
  if (time) left = timespec_of(*time);
  syscall(SYS_futex, &asleep_, FUTEX_WAIT_PRIVATE, 1, time ? &left : nullptr, nullptr, 0);
}

void Sleeper::wake() { syscall(SYS_futex, &asleep_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0); }

}  // namespace zerohop

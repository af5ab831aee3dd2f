// Where one thread sleeps until another one wakes it, at one system call for each of the two.
//
// A std::condition_variable takes one more: glibc's hands its mutex to whoever returns from the
// wait as one that others want, so that the unlock behind it wakes nobody by a system call. And
// std::atomic::wait() gives the processor away four times before it sleeps, and sleeps for ever.
//
// Whether there is something to sleep for, a mutex of the owner guards:
//
//   sleeper   lock, nothing there? fall_asleep(), unlock ── await_wake() ── lock, look again
//   others    lock, put it there, r = rouse(), unlock ── if (r) wake()
//
// A sleeper that was roused between its unlock and await_wake() does not sleep.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace zerohop {

class Sleeper {
 public:
  // ---- with the owner's lock held ----

  void fall_asleep() { asleep_.store(1, std::memory_order_relaxed); }
  void get_up() { asleep_.store(0, std::memory_order_relaxed); }
  /// Whether somebody sleeps, who then has to be woken; says so once for each time.
  [[nodiscard]] bool rouse() { return asleep_.exchange(0, std::memory_order_relaxed) != 0; }

  // ---- without it ----

  /// Returns when roused, when `time` has passed (nothing: never), and now and then for no reason.
  void await_wake(std::optional<Duration> time);
  void wake();

 private:
  std::atomic<std::uint32_t> asleep_{0};
};

}  // namespace zerohop

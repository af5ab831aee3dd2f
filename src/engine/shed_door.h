// Who is let in while the engine sheds: whoever asks for less than its share.
//
// One tenant with a thousand requests makes the queue long for itself, not for others, since turns
// are fair. So a newcomer is held against what fair turns put in front of it: of each tenant that
// waits at most as many requests as of its own, and one. Example, with a queue of 80 s:
//
//   waiting      A: 100            in front of the next of A   101 of 101   80 s    refused
//                B:   1            in front of the next of B     3 of 101    2 s    let in
//                                  in front of one of C          2 of 101    2 s    let in
//
// Many tenants with one request each are nobody's fault but a long queue all the same: there the
// whole queue is in front of a newcomer, and it is refused.
//
// set() from the engine thread; everything else from any.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <unordered_map>

#include "base/clock.h"
#include "core/pressure.h"
#include "core/tenant.h"

namespace zerohop {

class ShedDoor {
 public:
  /// `wait_max`: for the first token, in the queue.
  explicit ShedDoor(Duration wait_max) : wait_max_(wait_max) {}

  /// A request of `tenant` came and waits for its first slot; it has one now, or ended.
  void came(TenantId tenant);
  void went(TenantId tenant);

  /// kNone: everybody may come in. Else `wait` is what a request behind all others would wait.
  void set(PressureCause cause, Duration wait);

  /// Why a request of `tenant` is refused; kNone: it is not.
  PressureCause refuses(TenantId tenant) const;

  /// Of the requests that wait, the part that comes before a new one of `tenant`; 1 where nobody
  /// waits.
  double part_in_front(TenantId tenant) const;

 private:
  const Duration wait_max_;
  std::atomic<PressureCause> cause_{PressureCause::kNone};
  std::atomic<Duration::rep> wait_{0};
  mutable std::mutex mutex_;
  std::unordered_map<TenantId, std::size_t> waiting_;  // guarded by mutex_; no zeros
  std::size_t all_ = 0;                                // guarded by mutex_; their sum
};

}  // namespace zerohop

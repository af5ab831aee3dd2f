// Who is let in while the engine sheds: whoever asks for less than its share.
//
// One tenant with a thousand requests makes the queue long for itself, not for others, since turns
// are fair. So a newcomer is held against what fair turns put in front of it (queue_books.h).
// Example, with a queue of 80 s:
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

#include "base/clock.h"
#include "core/pressure.h"
#include "core/tenant.h"
#include "engine/queue_books.h"

namespace zerohop {

class ShedDoor {
 public:
  /// `wait_max`: for the first token, in the queue. `books` outlive the door.
  ShedDoor(const QueueBooks& books, Duration wait_max)
      : books_(books), wait_max_(wait_max.count()) {}

  /// kNone: everybody may come in. Else `wait` is what a request behind all others would wait.
  void set(PressureCause cause, Duration wait);

  void set_wait_max(Duration wait_max) { wait_max_ = wait_max.count(); }
  Duration wait_max() const { return Duration(wait_max_.load()); }

  /// Why a request of that tenant and class is refused; kNone: it is not.
  PressureCause refuses(TenantId tenant, PriorityClass priority = PriorityClass::kStandard) const;

 private:
  const QueueBooks& books_;
  std::atomic<Duration::rep> wait_max_;
  std::atomic<PressureCause> cause_{PressureCause::kNone};
  std::atomic<Duration::rep> wait_{0};
};

}  // namespace zerohop

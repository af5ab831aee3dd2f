// The door. Every request that costs anything holds one ticket from its head to its last byte;
// there are as many as limits::kRequestsMax says, and none once the server drains. A refusal is
// immediate and typed: nothing queues in front of the queue.
//
// Any thread. The object outlives its tickets (the permit pool checks that).
#pragma once

#include <atomic>
#include <cstddef>

#include "base/permit.h"
#include "core/error.h"

namespace zerohop {

class Admission {
 public:
  explicit Admission(std::size_t requests_max) : permits_(requests_max) {}

  /// Errors: kShuttingDown after close(), kOverloaded when all permits are out. Both with advice
  /// when to come back.
  Result<Permit> admit();

  /// From now on. Requests that are in the system beyond it go on.
  void set_requests_max(std::size_t requests_max) { permits_.set_capacity(requests_max); }

  /// No new request from now on.
  void close() { closed_ = true; }
  bool closed() const { return closed_; }

  std::size_t in_flight() const { return permits_.in_use(); }

 private:
  PermitPool permits_;
  std::atomic<bool> closed_{false};
};

}  // namespace zerohop

#include "app/wake_turn.h"

#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>

#include "base/check.h"

namespace zerohop {

namespace asio = boost::asio;

WakeTurns& WakeTurns::of(const asio::any_io_executor& executor) {
  return asio::use_service<WakeTurns>(
      asio::query(executor, asio::execution::context_as<asio::execution_context&>));
}

void WakeTurns::resume_ready() {
  std::vector<std::unique_ptr<Suspended>> ready;
  ready.swap(ready_);
  for (const std::unique_ptr<Suspended>& coroutine : ready) coroutine->resume();
}

// Coroutines own the slots in which they wait, which go with them.
void WakeTurns::shutdown() {
  std::vector<std::unique_ptr<Suspended>> doomed;
  for (WaitSlot* slot : slots_) {
    if (slot->waiting()) doomed.push_back(std::move(slot->waiter_));
  }
}

WaitSlot::WaitSlot(asio::any_io_executor executor)
    : executor_(std::move(executor)), turns_(WakeTurns::of(executor_)) {
  turns_.slots_.insert(this);
}

WaitSlot::~WaitSlot() { turns_.slots_.erase(this); }

void WaitSlot::wake() {
  if (!waiting()) return;
  if (turns_.in_turn_) {
    turns_.ready_.push_back(std::move(waiter_));
  } else {
    asio::post(executor_, [waiter = std::move(waiter_)] { waiter->resume(); });
  }
}

}  // namespace zerohop

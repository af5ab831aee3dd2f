// Coroutines of the I/O thread that wait for the engine. All that one of its wake-ups makes ready
// are resumed together, in the turn of the event loop that brought it:
//
//   IoWaker's post ──▶ WakeTurns::run():  notify, notify, notify  ─▶  resume, resume
//                                              └─ WaitSlot::wake()       ▲
//                                                   └────────────────────┘
//
// A timer that is cancelled would do the same, but its completion queues behind the event loop's
// look at the sockets: one epoll_wait more for every step of the engine. And a wake() that resumes
// at once would run a session inside the loop that tells its neighbours. Outside of a turn a slot
// is resumed by a post.
//
// As with timers, whoever still waits when the io_context goes is destroyed with it. I/O thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "http/awaitable.h"

namespace zerohop {

class WaitSlot;

/// One for each io_context, which owns it.
class WakeTurns final : public boost::asio::execution_context::service {
 public:
  static inline boost::asio::execution_context::id id;

  static WakeTurns& of(const boost::asio::any_io_executor& executor);
  explicit WakeTurns(boost::asio::execution_context& context)
      : boost::asio::execution_context::service(context) {}

  /// Calls `notify`, then resumes whom it woke.
  template <class Notify>
  void run(const Notify& notify) {
    in_turn_ = true;
    notify();
    in_turn_ = false;
    resume_ready();
  }

 private:
  friend class WaitSlot;

  // A coroutine that stands in a co_await. Destroyed without resume() it ends there.
  struct Suspended {
    virtual ~Suspended() = default;
    virtual void resume() = 0;
  };

  void shutdown() override;
  void resume_ready();

  std::unordered_set<WaitSlot*> slots_;
  std::vector<std::unique_ptr<Suspended>> ready_;  // in this turn
  bool in_turn_ = false;
};

/// Where one coroutine at a time waits to be woken.
class WaitSlot {
 public:
  explicit WaitSlot(boost::asio::any_io_executor executor);
  ~WaitSlot();
  WaitSlot(const WaitSlot&) = delete;
  WaitSlot& operator=(const WaitSlot&) = delete;

  Awaitable<void> wait() {
    namespace asio = boost::asio;
    co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(
        [this](auto handler) {
          waiter_ = std::make_unique<Waiter<decltype(handler)>>(std::move(handler));
        },
        asio::use_awaitable);
  }
  bool waiting() const { return waiter_ != nullptr; }
  /// Nothing happens when nobody waits.
  void wake();

 private:
  friend class WakeTurns;

  template <class Handler>
  struct Waiter final : WakeTurns::Suspended {
    explicit Waiter(Handler h) : handler(std::move(h)) {}
    void resume() override { std::move(handler)(); }
    Handler handler;
  };

  const boost::asio::any_io_executor executor_;
  WakeTurns& turns_;
  std::unique_ptr<WakeTurns::Suspended> waiter_;
};

}  // namespace zerohop

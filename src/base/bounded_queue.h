// A queue with a fixed capacity: many producers, one consumer. It never grows and never blocks a
// producer; a full queue is an answer (the caller refuses its client), not a wait.
//
// Threads: try_push from any; drain, wait and the rest from the consumer only, except close(),
// which any thread may call. The lock is held for a push or while items are moved out, never over
// work.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/sleeper.h"

namespace zerohop {

template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) { items_.reserve(capacity); }

  /// False, with `item` untouched, when the queue is full or closed.
  [[nodiscard]] bool try_push(T&& item) {
    bool sleeps = false;
    {
      const std::scoped_lock lock(mutex_);
      if (closed_ || items_.size() >= capacity_) return false;
      items_.push_back(std::move(item));
      sleeps = sleeper_.rouse();
    }
    if (sleeps) sleeper_.wake();
    return true;
  }

  /// Appends everything queued to `out`, in order. Never waits.
  void drain(std::vector<T>& out) {
    const std::scoped_lock lock(mutex_);
    for (T& item : items_) out.push_back(std::move(item));
    items_.clear();
    woken_ = false;
  }

  /// Sleeps until there is an item, wake() or close(). Returns false when closed and empty.
  bool wait() {
    std::unique_lock lock(mutex_);
    while (!ready()) fall_asleep(lock, std::nullopt);
    return !(closed_ && items_.empty());
  }

  /// Likewise, but no longer than `time`, and now and then shorter.
  bool wait_for(Duration time) {
    std::unique_lock lock(mutex_);
    if (!ready()) fall_asleep(lock, time);
    return !(closed_ && items_.empty());
  }

  /// Makes the consumer's wait() return although nothing was queued.
  void wake() {
    tell([this] { woken_ = true; });
  }

  /// Refuses further items; what is queued can still be drained.
  void close() {
    tell([this] { closed_ = true; });
  }

  std::size_t size() const {
    const std::scoped_lock lock(mutex_);
    return items_.size();
  }
  bool closed() const {
    const std::scoped_lock lock(mutex_);
    return closed_;
  }
  std::size_t capacity() const { return capacity_; }

 private:
  bool ready() const { return woken_ || closed_ || !items_.empty(); }

  void fall_asleep(std::unique_lock<std::mutex>& lock, std::optional<Duration> time) {
    sleeper_.fall_asleep();
    lock.unlock();
    sleeper_.await_wake(time);
    lock.lock();
    sleeper_.get_up();
  }

  template <class Change>
  void tell(const Change& change) {
    bool sleeps = false;
    {
      const std::scoped_lock lock(mutex_);
      change();
      sleeps = sleeper_.rouse();
    }
    if (sleeps) sleeper_.wake();
  }

  const std::size_t capacity_;

  mutable std::mutex mutex_;
  Sleeper sleeper_;       // of the consumer
  std::vector<T> items_;  // guarded by mutex_
  bool woken_ = false;    // guarded by mutex_
  bool closed_ = false;   // guarded by mutex_
};

}  // namespace zerohop

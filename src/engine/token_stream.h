// The bounded pipe between the engine and whoever answers the client.
//
//   engine thread:   push()  has_room()           consumer (one thread):  read()  cancel()
//
// Bounded in bytes. A full stream pauses its own sequence only: the engine asks has_room() before
// it plans a token, and read() rings the engine when it made room again. Text that the consumer has
// not read yet is merged, so a slow reader gets few large events instead of many small ones.
//
// Wake-ups of the consumer go through StreamWaker, once a step for all streams that got events, not
// once a stream. Dropping the consumer's last reference without reading to the end cancels.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/event.h"
#include "core/limits.h"

namespace zerohop {

class TokenStream {
 public:
  /// `ring_engine` makes the engine look at its streams again; any thread, cheap, never blocks.
  explicit TokenStream(std::function<void()> ring_engine,
                       std::size_t bytes_max = limits::kStreamBytesMax)
      : ring_engine_(std::move(ring_engine)), bytes_max_(bytes_max) {}
  TokenStream(const TokenStream&) = delete;
  TokenStream& operator=(const TokenStream&) = delete;

  // ---- consumer ----

  /// Moves everything that waits to the end of `out`. Returns true once the last event (Finished or
  /// Failed) has been read.
  bool read(std::vector<Event>& out);

  /// Nobody wants the rest. The engine frees the sequence within one step, in any phase.
  void cancel();

  /// Called by the consumer's own thread when a wake-up arrives; see StreamWaker.
  void set_on_readable(std::function<void()> callback) { on_readable_ = std::move(callback); }
  void notify_readable() {
    if (on_readable_) on_readable_();
  }

  // ---- engine ----

  void push(Event event);
  bool has_room() const;
  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }

 private:
  const std::function<void()> ring_engine_;
  const std::size_t bytes_max_;

  std::atomic<bool> cancelled_{false};

  mutable std::mutex mutex_;
  std::vector<Event> events_;  // guarded by mutex_
  std::size_t bytes_ = 0;      // guarded by mutex_
  bool finished_ = false;      // guarded by mutex_; the last event has been pushed

  std::function<void()> on_readable_;  // consumer's thread only
};

/// Told after each step which streams got events. Engine thread; must hand the work to the
/// consumer's thread (which calls notify_readable() on each) and return at once.
class StreamWaker {
 public:
  virtual ~StreamWaker() = default;
  virtual void wake(std::vector<std::shared_ptr<TokenStream>> streams) = 0;
};

}  // namespace zerohop

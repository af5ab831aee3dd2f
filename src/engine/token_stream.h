// The bounded pipe between the engine and whoever answers the client.
//
//   engine thread:   push()  has_room()           consumer (one thread):  read()  cancel()
//
// Bounded in bytes. A full stream pauses its own sequence only: the engine asks has_room() before
// it plans a token, and read() rings the engine when it made room again. Text that the consumer has
// not read yet is merged, so a slow reader gets few large events instead of many small ones.
//
// Wake-ups of the consumer go through StreamWaker, once a step for all streams that got events, not
// once a stream. A consumer that can do nothing before the end (a whole answer is one body) sets
// its pace so and sleeps until then; events are stamped with the time at which they came, which it
// reads late. Dropping the consumer's last reference without reading to the end cancels.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "core/event.h"
#include "core/limits.h"

namespace zerohop {

/// An event, and when it came: a time for each event that was merged into it. Stamped in streams
/// whose consumer sleeps until the end; otherwise there are no times, and it has just come.
struct TimedEvent {
  Event event;
  std::vector<TimePoint> came_at = {};
};

class TokenStream {
 public:
  /// `ring_engine` makes the engine look at its streams again; any thread, cheap, never blocks.
  explicit TokenStream(std::function<void()> ring_engine,
                       std::size_t bytes_max = limits::kStreamBytesMax)
      : ring_engine_(std::move(ring_engine)), bytes_max_(bytes_max) {}
  TokenStream(const TokenStream&) = delete;
  TokenStream& operator=(const TokenStream&) = delete;

  // ---- consumer ----

  /// Before it is handed to the engine: wakes only when the last event has come, or when so much
  /// waits that somebody should make room. `clock` outlives the stream.
  void wake_at_end(const Clock& clock) { stamps_ = &clock; }

  /// Moves everything that waits to the end of `out`. Returns true once the last event (Finished or
  /// Failed) has been read.
  bool read(std::vector<TimedEvent>& out);
  /// The same without times.
  bool read(std::vector<Event>& out);

  /// Until when the answer is worth anything, in place of what its request said: it may have got
  /// other readers, and lost them. Nothing: for ever.
  void set_deadline(std::optional<TimePoint> deadline);

  /// Nobody wants the rest. The engine frees the sequence within one step, in any phase.
  void cancel();

  /// Called by the consumer's own thread when a wake-up arrives; see StreamWaker.
  void set_on_readable(std::function<void()> callback) { on_readable_ = std::move(callback); }
  void notify_readable() {
    if (on_readable_) on_readable_();
  }

  // ---- engine ----

  /// True: its consumer wants to be woken for it.
  bool push(Event event);
  bool has_room() const;
  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  /// Of a request that came with `asked`.
  std::optional<TimePoint> deadline(std::optional<TimePoint> asked) const;

 private:
  template <class Take>
  bool take_all(const Take& take);
  void append(Event event);

  const std::function<void()> ring_engine_;
  const std::size_t bytes_max_;
  const Clock* stamps_ = nullptr;  // set before the engine has it; null: wakes for each event

  std::atomic<bool> cancelled_{false};
  // Of set_deadline(), since the clock's zero.
  static constexpr Duration kAsAsked = Duration::min();
  static constexpr Duration kNever = Duration::max();
  std::atomic<Duration> deadline_{kAsAsked};

  mutable std::mutex mutex_;
  std::vector<TimedEvent> events_;  // guarded by mutex_
  std::size_t bytes_ = 0;           // guarded by mutex_
  std::size_t unread_ = 0;          // guarded by mutex_; events, merged ones too
  bool finished_ = false;           // guarded by mutex_; the last event has been pushed

  std::function<void()> on_readable_;  // consumer's thread only
};

/// Told after each step which streams got events that their consumers wait for. Engine thread; must
/// hand the work to the consumer's thread (which calls notify_readable() on each) and return at
/// once.
class StreamWaker {
 public:
  virtual ~StreamWaker() = default;
  virtual void wake(std::vector<std::shared_ptr<TokenStream>> streams) = 0;
};

}  // namespace zerohop

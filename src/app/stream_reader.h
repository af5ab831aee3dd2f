// Brings engine events to the I/O thread: one wake-up of that thread per step for all streams, then
// one resumption per reader that waits.
//
//   engine thread            IoWaker::wake(streams)      one letter (io_mailbox.h)
//   I/O thread               notify_readable() on each → whoever waits is resumed (wake_turn.h)
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "app/io_mailbox.h"
#include "app/wake_turn.h"
#include "base/clock.h"
#include "engine/token_stream.h"
#include "http/awaitable.h"

namespace zerohop {

/// Hands wake-ups to the I/O thread. The executor's context must outlive the engine thread.
class IoWaker final : public StreamWaker {
 public:
  explicit IoWaker(boost::asio::any_io_executor executor)
      : executor_(std::move(executor)),
        mailbox_(IoMailbox::of(executor_)),
        turns_(WakeTurns::of(executor_)) {}
  void wake(std::vector<std::shared_ptr<TokenStream>> streams) override;

 private:
  const boost::asio::any_io_executor executor_;
  IoMailbox& mailbox_;
  WakeTurns& turns_;
};

/// An event and the choice (from 0) that it belongs to.
struct ChoiceEvent {
  std::uint32_t choice = 0;
  Event event;
  std::vector<TimePoint> came_at = {};  ///< TimedEvent::came_at
};

/// The reading end of the streams of one request, one for each choice, as a coroutine sees them.
/// I/O thread only. When it goes before the last event has been read, it cancels what still runs:
/// nobody is left to read.
class StreamReader {
 public:
  /// `streams`: one or more; their indices are the choices.
  StreamReader(const boost::asio::any_io_executor& executor,
               std::vector<std::shared_ptr<TokenStream>> streams);
  ~StreamReader();
  StreamReader(const StreamReader&) = delete;
  StreamReader& operator=(const StreamReader&) = delete;

  /// Waits until there are events and appends them, or until `silence` has passed without any (then
  /// `events` stays as it was), or until interrupt().
  Awaitable<void> read(Duration silence, std::vector<ChoiceEvent>& events);

  /// The same without waiting.
  void poll(std::vector<ChoiceEvent>& events) { read_now(events); }
  /// Called when there may be events; for those who poll.
  void set_on_events(std::function<void()> callback) { on_events_ = std::move(callback); }

  /// TokenStream::set_deadline() of all of them.
  void set_deadline(std::optional<TimePoint> deadline);

  /// The last event of every stream has been read.
  bool ended() const { return open_ == 0; }

  /// Makes a waiting read() return without events, now and from now on.
  void interrupt();

 private:
  struct Choice {
    std::shared_ptr<TokenStream> stream;
    bool ended = false;
  };

  void read_now(std::vector<ChoiceEvent>& events);

  boost::asio::steady_timer timer_;  // expires: silence; cancelled: events or an interruption
  std::vector<Choice> choices_;
  std::size_t open_;
  std::vector<TimedEvent> scratch_;
  std::function<void()> on_events_;
  bool interrupted_ = false;
};

}  // namespace zerohop

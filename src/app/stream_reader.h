// Brings engine events to the I/O thread: one wake-up of that thread per step for all streams, then
// one resumption per stream whose reader waits.
//
//   engine thread            IoWaker::wake(streams)      one post
//   I/O thread               notify_readable() on each → StreamReader resumes its coroutine
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "engine/token_stream.h"
#include "http/awaitable.h"

namespace zerohop {

/// Hands wake-ups to the I/O thread. The executor's context must outlive the engine thread.
class IoWaker final : public StreamWaker {
 public:
  explicit IoWaker(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}
  void wake(std::vector<std::shared_ptr<TokenStream>> streams) override;

 private:
  const boost::asio::any_io_executor executor_;
};

/// The reading end of one stream, as a coroutine sees it. I/O thread only. When it goes before the
/// last event has been read, it cancels the request: nobody is left to read.
class StreamReader {
 public:
  StreamReader(const boost::asio::any_io_executor& executor, std::shared_ptr<TokenStream> stream);
  ~StreamReader();
  StreamReader(const StreamReader&) = delete;
  StreamReader& operator=(const StreamReader&) = delete;

  /// Waits until there are events and appends them, or until `silence` has passed without any (then
  /// `events` stays as it was), or until interrupt().
  Awaitable<void> read(Duration silence, std::vector<Event>& events);

  /// The last event has been read.
  bool ended() const { return ended_; }

  /// Makes a waiting read() return without events, now and from now on.
  void interrupt();

 private:
  boost::asio::steady_timer timer_;  // expires: silence; cancelled: events or an interruption
  std::shared_ptr<TokenStream> stream_;
  bool readable_ = false;
  bool interrupted_ = false;
  bool ended_ = false;
};

}  // namespace zerohop

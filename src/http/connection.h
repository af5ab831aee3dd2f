// Connection: one accepted socket with its read-ahead buffer, its deadline and its peer watch.
// Internal to http (it drags Asio in); I/O thread only; held by shared_ptr.
//
// One read is always outstanding, from accept to close, whatever the session is doing. While it
// reads a request, the read feeds the parser; while a handler runs, the same read is the watch for
// the peer: it ends with zero bytes or an error the moment the client closes, even when nothing is
// being written, and it collects pipelined bytes until the bound is reached. Then it pauses, TCP
// pushes back, and a vanished peer shows only at the next write. Against waiting for readability
// and peeking this saves one epoll_ctl and one recv per request, and nothing has to be cancelled in
// between.
//
// With TLS (start_tls) the same read brings ciphertext, which is decrypted into the buffer at once,
// and a write seals its bytes into one record before the one system call; the rest of this file and
// of the folder does not know the difference (tls_channel.h).
//
// Writes are tried at once on the non-blocking socket: a chunk that fits the socket buffer costs
// one system call, no timer and no turn of the event loop. Only what is left waits.
//
// The timer is lazy: setting a deadline stores a time, and the timer is moved only when it would
// ring too late. Deadlines are read from the server's Clock, so time-outs follow a virtual clock
// too.
#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/ip_address.h"
#include "http/awaitable.h"
#include "http/endpoint.h"
#include "http/server_state.h"
#include "http/tls_channel.h"

namespace zerohop {

enum class ReadOutcome : std::uint8_t {
  kData,  ///< buffered() has grown
  kEnd,   ///< the peer closed or reset, or we closed
  kTimeout,
  kStopped,  ///< the server drains and this connection was idle
  kFull,     ///< the read-ahead buffer is full; nothing more will come
};

/// What the session is waiting for: only an idle connection is closed by a drain.
enum class WaitFor : std::uint8_t { kNextRequest, kMoreBytes };

/// Up to four buffers for one write. The bytes must live until the write has ended.
class GatherList {
 public:
  void add(std::string_view bytes) {
    if (!bytes.empty()) buffers_.at(count_++) = boost::asio::buffer(bytes.data(), bytes.size());
  }
  std::span<const boost::asio::const_buffer> view() const { return {buffers_.data(), count_}; }
  std::size_t bytes() const;
  /// Drops `bytes` sent bytes from the front.
  void consume(std::size_t bytes);

 private:
  std::array<boost::asio::const_buffer, 4> buffers_;
  std::size_t count_ = 0;
};

/// The suspended reader of a connection. Boost 1.81's any_completion_handler would fit, but moving
/// one out of a member recurses without end there.
class ReadWaiter {
 public:
  ReadWaiter() = default;
  template <class Handler>
  explicit ReadWaiter(Handler handler)
      : resume_(std::make_unique<Resume<Handler>>(std::move(handler))) {}

  explicit operator bool() const { return resume_ != nullptr; }
  /// Resumes the reader, once. It may destroy the owner of this object.
  void operator()(ReadOutcome outcome) && {
    const std::unique_ptr<ResumeBase> resume = std::move(resume_);
    resume->run(outcome);
  }

 private:
  struct ResumeBase {
    virtual ~ResumeBase() = default;
    virtual void run(ReadOutcome outcome) = 0;
  };
  template <class Handler>
  struct Resume final : ResumeBase {
    explicit Resume(Handler h) : handler(std::move(h)) {}
    void run(ReadOutcome outcome) override { std::move(handler)(outcome); }
    Handler handler;
  };

  std::unique_ptr<ResumeBase> resume_;
};

enum class TlsStart : std::uint8_t {
  kDone,
  kGone,
  kTimeout,
  kFault,  ///< no version, cipher, certificate or protocol in common, or no TLS at all
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;

  /// `peer`: not known for a Unix socket.
  Connection(Socket socket, const IpAddress& peer, std::shared_ptr<ServerState> state);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Who is at the other end: of the socket, until a balancer has said who connected to it.
  const IpAddress& peer() const { return peer_; }
  /// The same for people; `unix` for a Unix socket.
  const std::string& remote_address() const { return remote_address_; }
  void set_peer(const IpAddress& peer);
  /// Of the certificate that the client showed; empty: none.
  const std::string& client_subject() const { return client_subject_; }
  const std::string& client_name() const { return client_name_; }
  /// Of the listener; whether TLS has begun says tls().
  Transport transport() const { return transport_; }
  void set_transport(Transport transport) { transport_ = transport; }
  boost::asio::any_io_executor executor() { return socket_.get_executor(); }

  // ---- Reading: by the session only ----

  /// Bytes that have come and were not consumed. Invalidated by more() and watch().
  std::string_view buffered() const { return {buffer_.data() + begin_, end_ - begin_}; }
  void consume(std::size_t bytes);
  /// The same for a head, whose bytes may hold a key: they are overwritten.
  void consume_secret(std::size_t bytes);
  /// A hint for the size of the next reads.
  void expect_bytes(std::uint64_t bytes);
  /// Waits for more bytes, at most `timeout`. One caller at a time.
  Awaitable<ReadOutcome> more(WaitFor purpose, Duration timeout);

  /// Lets the event loop serve others once. Between pipelined requests: a full buffer holds more
  /// than a thousand of them, and nobody should wait for all.
  Awaitable<void> yield();

  // ---- TLS: once, before the first request ----

  /// Shakes hands; what is buffered are the first bytes of it. Everything read and written
  /// afterwards is sealed on its way.
  Awaitable<TlsStart> start_tls(std::shared_ptr<const TlsContext> context, Duration timeout);
  /// Null without TLS.
  const TlsChannel* tls() const { return tls_.get(); }

  // ---- Writing: by the session and its exchange, one at a time ----

  /// All bytes or false: the peer is gone or did not read for write_timeout; the socket is then
  /// closed.
  Awaitable<bool> write(GatherList bytes) {
    return tls_ == nullptr ? send(bytes) : write_sealed(bytes);
  }

  // ---- The peer ----

  /// Keeps one read going while a handler runs.
  void watch();
  bool peer_gone() const { return ended_ || write_failed_; }
  /// The peer closed its side in an orderly way; writing may still work.
  bool half_closed() const { return ended_ && !closed_ && !write_failed_ && !reset_; }
  bool write_timed_out() const { return write_timed_out_; }
  /// Called once when the peer goes; at once when it has gone. Null removes the callback.
  void on_peer_gone(std::function<void()> callback);

  // ---- Ending ----

  /// With TLS, tells the peer that no more comes, as far as it can be told without waiting. What
  /// ends without it was cut off.
  void say_goodbye();
  /// Says goodbye, drops what it still sends for linger_timeout, then closes.
  Awaitable<void> close_gracefully();
  void close();
  /// Closes with a reset, so that a body that ends with the connection cannot look complete.
  void reset();
  /// From outside the session (drain): ends the wait for a next request.
  void stop_if_idle();
  /// From outside the session (hard stop): closes, tells the handler that the peer is gone.
  void abort();

  std::uint64_t bytes_sent() const { return bytes_sent_; }

 private:
  Awaitable<bool> send(GatherList bytes);
  Awaitable<bool> write_sealed(GatherList bytes);
  std::size_t seal(GatherList& bytes);
  Awaitable<bool> send_sealed();
  void start_read();
  void make_room(std::size_t bytes);
  void on_read(const boost::system::error_code& error, std::size_t bytes);
  void on_sealed_bytes(std::size_t bytes);
  bool decrypt();
  void send_alert();
  void note_end();
  void wake(ReadOutcome outcome);
  void set_deadline(Duration from_now);
  void arm_timer(Duration from_now);
  void on_timer();

  // Constant.
  const std::shared_ptr<ServerState> state_;
  const std::size_t buffered_bytes_max_;

  std::unique_ptr<TlsChannel> tls_;
  bool shaking_hands_ = false;
  Transport transport_ = Transport::kPlain;
  IpAddress peer_;
  std::string remote_address_;
  std::string client_subject_;
  std::string client_name_;
  Socket socket_;
  std::uint64_t bytes_sent_ = 0;

  // Read-ahead: [begin_, end_) of buffer_ is unread input, behind it is room for the pending read.
  std::string buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t read_bytes_;  // room asked for the next read
  bool read_pending_ = false;
  ReadWaiter waiter_;
  WaitFor waiting_for_ = WaitFor::kMoreBytes;

  // The lazy timer.
  boost::asio::steady_timer timer_;
  std::optional<TimePoint> deadline_;
  std::optional<TimePoint> timer_rings_;

  bool ended_ = false;  // no more bytes will come
  bool reset_ = false;  // … because of an error, not of an orderly close
  bool closed_ = false;
  bool write_failed_ = false;
  bool write_pending_ = false;
  bool write_timed_out_ = false;
  std::function<void()> peer_gone_callback_;
};

}  // namespace zerohop

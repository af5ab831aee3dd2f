#include "http/connection.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <exception>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "base/wipe.h"

namespace zerohop {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr auto kAwaitTuple = asio::as_tuple(asio::use_awaitable);

// Room of an idle connection. A typical head is 1 to 1.5 KiB, so one read takes it.
constexpr std::size_t kReadBytesMin = 2u << 10;
// Bodies are read in pieces of this size: 32 MB in 512 reads.
constexpr std::size_t kReadBytesMax = 64u << 10;

// A long answer is sealed and sent in pieces of this size, so that it is not in memory twice.
constexpr std::size_t kSealBytesMax = 64u << 10;
// Ciphertext that nobody has asked for; a reply to a control record has some 30 bytes.
constexpr std::size_t kTlsControlBytesMax = 16u << 10;

}  // namespace

std::size_t GatherList::bytes() const {
  std::size_t total = 0;
  for (const asio::const_buffer& buffer : view()) total += buffer.size();
  return total;
}

void GatherList::consume(std::size_t bytes) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    const std::size_t dropped = std::min(bytes, buffers_[i].size());
    bytes -= dropped;
    const asio::const_buffer rest = buffers_[i] + dropped;
    if (rest.size() > 0) buffers_[kept++] = rest;
  }
  ZH_DCHECK(bytes == 0);
  count_ = kept;
}

Connection::Connection(Socket socket, const IpAddress& peer, std::shared_ptr<ServerState> state)
    : state_(std::move(state)),
      // A whole head must fit, whatever the operator allows for one, with room to notice its
      // excess.
      buffered_bytes_max_(
          std::max(state_->options.pipelined_bytes_max, state_->options.head_bytes_max + 1)),
      peer_(peer),
      remote_address_(peer.known() ? peer.text() : "unix"),
      socket_(std::move(socket)),
      read_bytes_(kReadBytesMin),
      timer_(socket_.get_executor()) {
  error_code ignored;
  socket_.non_blocking(true, ignored);
}

void Connection::set_peer(const IpAddress& peer) {
  peer_ = peer;
  remote_address_ = peer.text();
}

// ---- Reading ----

void Connection::consume(std::size_t bytes) {
  ZH_CHECK(bytes <= end_ - begin_);
  begin_ += bytes;
}

void Connection::consume_secret(std::size_t bytes) {
  wipe_bytes(buffer_.data() + begin_, bytes);
  consume(bytes);
}

void Connection::expect_bytes(std::uint64_t bytes) {
  read_bytes_ =
      static_cast<std::size_t>(std::clamp<std::uint64_t>(bytes, kReadBytesMin, kReadBytesMax));
}

Awaitable<ReadOutcome> Connection::more(WaitFor purpose, Duration timeout) {
  ZH_CHECK(!waiter_);
  if (ended_) co_return ReadOutcome::kEnd;
  if (tls_ && !shaking_hands_ && tls_->input_pending()) {
    if (decrypt()) co_return ReadOutcome::kData;
    if (ended_) co_return ReadOutcome::kEnd;
  }
  if (timeout <= Duration::zero()) co_return ReadOutcome::kTimeout;
  start_read();
  if (!read_pending_) co_return ReadOutcome::kFull;
  waiting_for_ = purpose;
  set_deadline(timeout);
  const ReadOutcome outcome =
      co_await asio::async_initiate<const asio::use_awaitable_t<>, void(ReadOutcome)>(
          [this](auto handler) { waiter_ = ReadWaiter(std::move(handler)); }, asio::use_awaitable);
  co_return outcome;
}

Awaitable<void> Connection::yield() {
  co_await asio::post(socket_.get_executor(), asio::use_awaitable);
}

void Connection::make_room(std::size_t bytes) {
  if (begin_ == end_) {
    begin_ = end_ = 0;
    // An idle connection gives back what a long body needed. The swap frees; an assignment would
    // keep the capacity.
    if (buffer_.size() > 4 * bytes) std::string().swap(buffer_);
  }
  if (buffer_.size() - end_ >= bytes) return;
  buffer_.erase(0, begin_);
  end_ -= begin_;
  begin_ = 0;
  buffer_.resize(std::max(buffer_.size(), end_ + bytes));
}

void Connection::start_read() {
  if (read_pending_ || ended_) return;
  const std::size_t room = std::min(read_bytes_, buffered_bytes_max_ - (end_ - begin_));
  if (room == 0) return;
  char* place = nullptr;
  if (tls_) {
    place = tls_->input_room(room);
  } else {
    make_room(room);
    place = buffer_.data() + end_;
  }
  read_pending_ = true;
  socket_.async_read_some(asio::buffer(place, room),
                          [self = shared_from_this()](const error_code& error, std::size_t bytes) {
                            self->on_read(error, bytes);
                          });
}

void Connection::on_read(const error_code& error, std::size_t bytes) {
  read_pending_ = false;
  if (error || closed_) {
    reset_ = error != asio::error::eof;
    note_end();
    return;
  }
  state_->counts.bytes_received += bytes;
  if (bytes >= read_bytes_) read_bytes_ = std::min(2 * read_bytes_, kReadBytesMax);
  if (tls_) {
    on_sealed_bytes(bytes);
    return;
  }
  end_ += bytes;
  if (waiter_) {
    wake(ReadOutcome::kData);  // may run the whole session; nothing of ours may follow
  } else {
    start_read();  // a handler runs: the watch goes on
  }
}

void Connection::note_end() {
  ended_ = true;
  if (waiter_) {
    wake(ReadOutcome::kEnd);
    return;
  }
  const std::function<void()> callback = std::exchange(peer_gone_callback_, nullptr);
  if (!callback) return;
  try {
    callback();
  } catch (const std::exception& fault) {
    log_error("http peer-gone callback threw", {{"what", log_text(fault.what())}});
  } catch (...) {
    log_error("http peer-gone callback threw");
  }
}

void Connection::wake(ReadOutcome outcome) {
  deadline_.reset();
  auto waiter = std::exchange(waiter_, ReadWaiter());
  std::move(waiter)(outcome);
}

void Connection::watch() {
  if (!read_pending_) read_bytes_ = kReadBytesMin;
  // The read-ahead of a connection with TLS stands in the channel.
  if (tls_ && begin_ == end_) {
    begin_ = end_ = 0;
    std::string().swap(buffer_);
  }
  if (tls_ && tls_->input_pending()) decrypt();
  start_read();
}

void Connection::on_peer_gone(std::function<void()> callback) {
  peer_gone_callback_ = std::move(callback);
  if (peer_gone() && peer_gone_callback_) note_end();
}

// ---- TLS ----

Awaitable<TlsStart> Connection::start_tls(std::shared_ptr<const TlsContext> context,
                                          Duration timeout) {
  ZH_CHECK(tls_ == nullptr && !read_pending_);
  const TimePoint until = state_->clock.now() + timeout;
  tls_ = std::make_unique<TlsChannel>(std::move(context));
  const std::string_view begun = buffered();
  std::copy(begun.begin(), begun.end(), tls_->input_room(begun.size()));
  tls_->input_added(begun.size());
  consume(begun.size());
  std::string().swap(buffer_);
  begin_ = end_ = 0;
  shaking_hands_ = true;
  while (true) {
    const TlsChannel::Step step = tls_->handshake();
    const bool sent = co_await send_sealed();  // also an alert that says what was wrong
    if (step == TlsChannel::Step::kFault) co_return TlsStart::kFault;
    if (!sent) co_return TlsStart::kGone;
    if (step == TlsChannel::Step::kDone) break;
    switch (co_await more(WaitFor::kMoreBytes, until - state_->clock.now())) {
      case ReadOutcome::kData: break;
      case ReadOutcome::kTimeout: co_return TlsStart::kTimeout;
      case ReadOutcome::kEnd:
      case ReadOutcome::kStopped:
      case ReadOutcome::kFull: co_return TlsStart::kGone;
    }
  }
  shaking_hands_ = false;
  client_subject_ = tls_->client_subject();
  client_name_ = tls_->client_name();
  co_return TlsStart::kDone;
}

void Connection::on_sealed_bytes(std::size_t bytes) {
  tls_->input_added(bytes);
  if (!tls_->fault().empty()) tls_->drop_input();  // read only so that our alert arrives
  const bool grew = shaking_hands_ || decrypt();
  if (waiter_ && grew) {
    wake(ReadOutcome::kData);  // may run the whole session; nothing of ours may follow
  } else if (ended_) {
    note_end();
  } else {
    start_read();  // a record that is not whole yet, or the watch
  }
}

// Moves what the peer has sent into the buffer. True when that has grown; sets ended_ when no more
// will come.
bool Connection::decrypt() {
  bool grew = false;
  while (!ended_ && end_ - begin_ < buffered_bytes_max_) {
    std::string& record = state_->record;
    record.resize(kTlsRecordBytesMax);
    const std::size_t room = std::min(record.size(), buffered_bytes_max_ - (end_ - begin_));
    const TlsChannel::Read got = tls_->read(std::span(record.data(), room));
    if (got.step == TlsChannel::Step::kNeedInput) break;
    if (got.step != TlsChannel::Step::kDone) {
      ended_ = true;
      reset_ = got.step == TlsChannel::Step::kFault;
      if (!reset_) break;
      ++state_->counts.tls_faults;
      send_alert();
      break;
    }
    make_room(got.bytes);
    std::copy_n(record.begin(), got.bytes, buffer_.begin() + static_cast<std::ptrdiff_t>(end_));
    end_ += got.bytes;
    grew = true;
  }
  // Replies to the peer's own control records leave with the next write. A peer that never reads
  // and never asks for anything else must not fill memory with them.
  if (tls_->output_bytes() > kTlsControlBytesMax) ended_ = reset_ = true;
  return grew;
}

// Takes up to kSealBytesMax bytes from the front of `bytes` and seals them, small pieces together
// in one record.
std::size_t Connection::seal(GatherList& bytes) {
  std::size_t sealed = 0;
  std::string& record = state_->record;
  while (bytes.bytes() > 0 && sealed < kSealBytesMax) {
    record.clear();
    for (const asio::const_buffer& piece : bytes.view()) {
      const std::size_t taken = std::min(piece.size(), kTlsRecordBytesMax - record.size());
      record.append(static_cast<const char*>(piece.data()), taken);
    }
    if (!tls_->write(record)) return 0;
    bytes.consume(record.size());
    sealed += record.size();
  }
  return sealed;
}

Awaitable<bool> Connection::write_sealed(GatherList bytes) {
  if (closed_ || write_failed_) co_return false;
  while (bytes.bytes() > 0) {
    if (seal(bytes) == 0) {
      write_failed_ = true;
      close();
      co_return false;
    }
    const bool sent = co_await send_sealed();
    if (!sent) co_return false;
  }
  co_return true;
}

Awaitable<bool> Connection::send_sealed() {
  // Stays here until it is sent: what the peer makes us say meanwhile is put beside it.
  const std::string sealed = tls_->take_output();
  GatherList bytes;
  bytes.add(sealed);
  co_return co_await send(bytes);
}

void Connection::say_goodbye() {
  if (!tls_ || closed_ || write_failed_) return;
  tls_->close_notify();
  send_alert();
}

// What can be said without waiting, and not into the middle of a record.
void Connection::send_alert() {
  if (write_pending_) return;
  const std::string sealed = tls_->take_output();
  error_code ignored;
  if (!sealed.empty()) socket_.write_some(asio::buffer(sealed), ignored);
}

// ---- Writing ----

Awaitable<bool> Connection::send(GatherList bytes) {
  if (closed_ || write_failed_) co_return false;
  error_code error;
  std::size_t sent = bytes.bytes() > 0 ? socket_.write_some(bytes.view(), error) : 0;
  while (true) {
    if (error && error != asio::error::would_block && error != asio::error::try_again) break;
    if (!error && sent > 0) {
      bytes.consume(sent);
      bytes_sent_ += sent;
      state_->counts.bytes_sent += sent;
      ++state_->counts.socket_writes;
    }
    if (bytes.bytes() == 0) co_return true;
    set_deadline(state_->options.write_timeout);
    write_pending_ = true;
    std::tie(error, sent) = co_await socket_.async_write_some(bytes.view(), kAwaitTuple);
    write_pending_ = false;
    deadline_.reset();
  }
  write_failed_ = true;
  close();
  co_return false;
}

// ---- Time ----

void Connection::set_deadline(Duration from_now) {
  deadline_ = state_->clock.now() + from_now;
  if (!timer_rings_ || *timer_rings_ > *deadline_) arm_timer(from_now);
}

void Connection::arm_timer(Duration from_now) {
  timer_rings_ = state_->clock.now() + from_now;
  timer_.expires_after(std::chrono::ceil<asio::steady_timer::duration>(from_now));
  timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (error != asio::error::operation_aborted) self->on_timer();
  });
}

void Connection::on_timer() {
  timer_rings_.reset();
  if (closed_ || !deadline_) return;
  const Duration left = *deadline_ - state_->clock.now();
  if (left > Duration::zero()) {
    arm_timer(left);
  } else if (waiter_) {
    wake(ReadOutcome::kTimeout);
  } else if (write_pending_) {
    write_timed_out_ = true;
    ++state_->counts.timeouts;
    close();
  }
}

// ---- Ending ----

Awaitable<void> Connection::close_gracefully() {
  if (closed_) co_return;
  say_goodbye();
  error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
  const TimePoint until = state_->clock.now() + state_->options.linger_timeout;
  std::size_t dropped = 0;
  while (!ended_ && dropped < limits::kLingerBytesMax) {
    dropped += end_ - begin_;
    consume(end_ - begin_);
    const Duration left = until - state_->clock.now();
    const ReadOutcome outcome = co_await more(WaitFor::kMoreBytes, left);
    if (outcome != ReadOutcome::kData) break;
  }
  close();
}

void Connection::close() {
  if (closed_) return;
  closed_ = true;
  ended_ = true;
  error_code ignored;
  socket_.close(ignored);
  deadline_.reset();
  timer_.cancel();
}

void Connection::reset() {
  if (closed_) return;
  error_code ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  close();
}

void Connection::stop_if_idle() {
  if (!waiter_ || waiting_for_ != WaitFor::kNextRequest || begin_ != end_) return;
  error_code ignored;
  if (socket_.available(ignored) > 0) return;  // a request is already here; it is still answered
  if (tls_ && tls_->input_pending()) return;   // likewise, the first part of it
  deadline_.reset();
  asio::post(socket_.get_executor(), [waiter = std::exchange(waiter_, ReadWaiter())]() mutable {
    std::move(waiter)(ReadOutcome::kStopped);
  });
}

void Connection::abort() {
  close();
  // Posted, so that the session does not run inside the caller, and so that the io_context owns the
  // coroutine: kept here it would own this object, which owns it.
  if (waiter_) {
    asio::post(socket_.get_executor(), [waiter = std::exchange(waiter_, ReadWaiter())]() mutable {
      std::move(waiter)(ReadOutcome::kEnd);
    });
  } else {
    note_end();
  }
}

}  // namespace zerohop

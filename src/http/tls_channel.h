// TlsChannel: one TLS connection without its socket. Bytes of the peer go in, bytes for the peer
// come out, and the connection moves both; nothing here waits or makes a system call. Internal to
// http; I/O thread only.
//
// OpenSSL directly and not Boost.Asio's ssl::stream, because of the way in which Connection writes:
// tried at once, one system call a burst. The stream would take each burst through its composed
// operations and copies it in pieces of 8 KiB, and its synchronous write loses ciphertext on a
// non-blocking socket that is full. A socket without TLS has no channel, and pays one comparison of
// a pointer for each read and each write.
//
//   handshake() until kDone ─▶ read(), write() ─▶ close_notify()
//        │ kFault                    │ kEnd: the peer has closed its side
//        ▼                           ▼ kFault
//   (output() may hold an alert for the peer)
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "http/tls_context.h"

struct ssl_st;

namespace zerohop {

/// Plaintext that fits one record (RFC 8446, section 5.1): what is written at once is one record.
inline constexpr std::size_t kTlsRecordBytesMax = 16u << 10;

class TlsChannel {
 public:
  enum class Step : std::uint8_t {
    kDone,
    kNeedInput,  ///< goes on when more bytes of the peer have come
    kEnd,        ///< the peer has said that it sends no more
    kFault,      ///< fault() says why; nothing more can be read or written
  };

  explicit TlsChannel(std::shared_ptr<const TlsContext> context);
  ~TlsChannel();
  TlsChannel(const TlsChannel&) = delete;
  TlsChannel& operator=(const TlsChannel&) = delete;

  // ---- From the peer ----

  /// Where the next `bytes` bytes of the peer go. Invalidated by everything else here.
  char* input_room(std::size_t bytes);
  /// So many were put there.
  void input_added(std::size_t bytes) { input_end_ += bytes; }
  void drop_input() { input_begin_ = input_end_ = 0; }
  /// Whether read() could give something without more input.
  bool input_pending() const;

  Step handshake();
  struct Read {
    Step step;
    std::size_t bytes;  ///< with kDone
  };
  Read read(std::span<char> room);

  // ---- To the peer ----

  /// At most kTlsRecordBytesMax; becomes one record of output(). False: the channel is broken.
  bool write(std::string_view plain);
  /// Says that we send no more.
  void close_notify();
  std::size_t output_bytes() const { return output_.size(); }
  std::string take_output() { return std::exchange(output_, std::string()); }

  // ---- About it ----

  bool resumed() const;
  /// The subject of the client's certificate, for people; empty when it showed none.
  std::string client_subject() const;
  /// Its first DNS name, else its common name; empty when it has neither, or one that is no
  /// printable ASCII.
  std::string client_name() const;
  const std::string& fault() const { return fault_; }

 private:
  friend struct TlsChannelBio;
  Step step_of(int outcome);

  const std::shared_ptr<const TlsContext> context_;
  ssl_st* ssl_;
  // [input_begin_, input_end_) of input_ is for OpenSSL to take.
  std::string input_;
  std::size_t input_begin_ = 0;
  std::size_t input_end_ = 0;
  std::string output_;
  std::string fault_;
};

}  // namespace zerohop

// The client's end of HTTP/1.1 over loopback, as small as a benchmark needs it: raw sockets, one
// request outstanding on a connection. Any thread, each connection from one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zerohop::bench {

/// A connected socket without Nagle's delay; -1 when nobody listens.
int connect_to(std::uint16_t port);

/// The same from address 127.0.0.1 + `place`, so that one machine can be many clients.
int connect_from(std::uint32_t place, std::uint16_t port);

/// A port that nobody listens on now.
std::uint16_t free_port();

/// The bytes of a POST of JSON. `headers` are whole lines.
std::string post_bytes(const std::string& path, const std::string& body,
                       const std::string& headers = {});

/// Sends all of `bytes`. False when the other side has gone.
bool send_all(int descriptor, const std::string& bytes);

/// Reads an answer that comes in pieces: head, then a body of known length or in chunks.
class AnswerReader {
 public:
  /// Takes what arrived. Returns the bytes of the body that are new with it.
  std::string feed(std::string_view bytes);

  int status() const { return status_; }  ///< 0 until the head is there
  bool complete() const { return complete_; }

 private:
  void read_head();
  std::string read_plain();
  std::string read_chunks();

  std::string unread_;
  int status_ = 0;
  bool chunked_ = false;
  std::size_t body_left_ = 0;   // without chunks
  std::size_t chunk_left_ = 0;  // of the current chunk, its line end included
  bool last_chunk_ = false;     // is the current one; complete with the empty line behind it
  bool complete_ = false;
};

/// The bytes of a GET. `headers` are whole lines.
std::string get_bytes(const std::string& path, const std::string& headers = {});

/// One whole exchange on a connection of its own.
struct Answer {
  int status = 0;
  std::string body;
};

/// GET, or POST when there is a `body`. Nothing when nobody answers.
std::optional<Answer> exchange(std::uint16_t port, const std::string& path,
                               const std::string& body = {});

/// The same with the bytes of a request.
std::optional<Answer> exchange_bytes(std::uint16_t port, const std::string& request);

/// The number behind the last `key` in `text`; nothing when there is none.
std::optional<double> number_after(std::string_view text, std::string_view key);

/// The JSON string behind the first `key`, still escaped; empty for null and where there is none.
std::string_view string_after(std::string_view text, std::string_view key);

}  // namespace zerohop::bench

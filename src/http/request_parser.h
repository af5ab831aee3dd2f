// RequestParser: bytes of one request → head and body, without sockets and without time.
//
// The grammar of a head is Boost.Beast's; on top stand the rules against request smuggling (RFC
// 9112, sections 2.2, 5.2, 6.1 to 6.3), which here are stricter than Beast: two parsers that
// disagree about where a request ends let one client write into another's connection. Refused:
// folded lines, a bare line feed, more than one Content-Length (even equal ones), Content-Length
// beside Transfer-Encoding, any coding but `chunked`, a missing, doubled or malformed Host.
// Garbage is refused by its first line, without waiting for the end of a head that never comes.
//
//   kHead ──feed_head: whole head──▶ kBody ──feed_body: last byte──▶ kDone
//     │                                │          (no body: straight to kDone)
//     └──────────── any fault ─────────┴──▶ kFailed, error() says why
//
// One owner; not thread-safe. Never throws.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/error.h"
#include "http/chunk_decoder.h"
#include "http/message.h"

namespace zerohop {

struct RequestLimits {
  std::size_t head_bytes_max;
  std::size_t body_bytes_max;
};

class RequestParser {
 public:
  explicit RequestParser(const RequestLimits& limits);
  ~RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  /// `bytes` are all bytes of the request seen so far: nothing is consumed before the head is
  /// whole, and each call repeats the bytes of the last one with more behind them (they are scanned
  /// once). One empty line in front is skipped. kDone: head() is set. Errors: kHeadTooLarge,
  /// kInvalidRequest.
  ParseProgress feed_head(std::string_view bytes);

  /// The head of a request whose feed_head() said kDone; what
  /// its connection knows of the peer is left empty.
  RequestHead& head();

  /// True while bytes of the body are missing. A declared length is not compared with the limit
  /// here: the caller looks at head().content_length before it reads.
  bool body_pending() const;

  /// `bytes` follow the consumed ones. Everything up to the end of the body is consumed.
  /// Errors: kInvalidRequest for bad chunks, kRequestTooLarge for chunks beyond the limit.
  ParseProgress feed_body(std::string_view bytes);

  std::string take_body();
  const Error& error() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace zerohop

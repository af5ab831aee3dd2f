// One POST over plain HTTP, from a coroutine of the I/O thread, to a server that is not trusted: it
// may be gone, hang, send anything or never stop sending. Nothing here blocks, and everything has
// an end.
//
//   resolve (unless it is an address) → connect → write → head of the answer → its body
//   └────────────── all of it until the deadline, or until end_at() ──────────────┘
//
// The head decides: what is wrong with the body behind it is no fault, the reply has then none. One
// connection for one request. A look-up of a name runs on a thread of Asio's and cannot be
// interrupted there; at the end of the process it is waited for (as long as resolv.conf says).
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/http_get.h"
#include "base/clock.h"
#include "core/error.h"
#include "http/awaitable.h"
#include "http/headers.h"

namespace zerohop {

struct PostRequest {
  HttpUrl url;
  std::vector<HeaderField> headers;  ///< beside those that frame the message
  std::string_view body;             ///< outlives send()
  TimePoint deadline{};              ///< of the real clock
};

struct PostReply {
  int status = 0;
  std::string retry_after;  ///< the field; empty: there was none
  std::string body;         ///< empty also where it was too long or came in no form of HTTP
};

class HttpPost {
 public:
  static constexpr std::size_t kReplyHeadBytesMax = std::size_t{8} << 10;
  static constexpr std::size_t kReplyBodyBytesMax = std::size_t{16} << 10;

  explicit HttpPost(const boost::asio::any_io_executor& executor);

  /// Once. Errors: kNotFound (no answer that is HTTP, or none in time), with the reason.
  Awaitable<Result<PostReply>> send(PostRequest request);
  /// It ends then at the latest. Any time before send() has returned.
  void end_at(TimePoint deadline);

 private:
  struct Parts;
  const std::shared_ptr<Parts> parts_;  // held by callbacks too
};

}  // namespace zerohop

// The property that the fuzzer and the corpus test check: how a request is cut into reads changes
// nothing about what is parsed. Test code.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/check.h"
#include "http/request_parser.h"

namespace zerohop {

/// What a parser made of some bytes. Two of them are equal when the outcome is.
struct ParsedRequest {
  ParseState state = ParseState::kNeedMore;
  ErrorCode error = ErrorCode::kInternal;  // when failed
  std::string method;
  std::string path;
  std::string query;
  std::size_t fields = 0;
  std::string body;

  friend bool operator==(const ParsedRequest&, const ParsedRequest&) = default;
};

/// Small limits, so that short inputs reach them.
inline constexpr RequestLimits kCheckLimits{2'048, 1'024};

/// Feeds `bytes` as a session does, with reads of at most `step` bytes.
inline ParsedRequest parse_in_steps(std::string_view bytes, std::size_t step) {
  RequestParser parser(kCheckLimits);
  ParsedRequest result;
  std::size_t begin = 0;
  std::size_t end = 0;
  bool head_done = false;
  while (true) {
    const std::string_view unread = bytes.substr(begin, end - begin);
    const ParseProgress progress = head_done ? parser.feed_body(unread) : parser.feed_head(unread);
    ZH_CHECK(progress.bytes_consumed <= unread.size());
    begin += progress.bytes_consumed;
    result.state = progress.state;
    if (progress.state == ParseState::kFailed) {
      result.error = parser.error().code;
      ZH_CHECK(!parser.error().message.empty());
      break;
    }
    if (progress.state == ParseState::kDone) {
      if (head_done || !parser.body_pending()) break;
      head_done = true;
      continue;
    }
    if (end == bytes.size()) break;
    end += std::min(step, bytes.size() - end);
  }
  if (result.state != ParseState::kDone) return result;
  const RequestHead& head = parser.head();
  result.method = head.method;
  result.path = head.path;
  result.query = head.query;
  result.fields = head.headers.size();
  result.body = parser.take_body();
  ZH_CHECK(result.body.size() <= kCheckLimits.body_bytes_max || head.content_length.has_value());
  ZH_CHECK(result.path == "*" || result.path.front() == '/');
  return result;
}

inline ParsedRequest check_request(std::string_view bytes) {
  ParsedRequest whole = parse_in_steps(bytes, bytes.size() + 1);
  ZH_CHECK(parse_in_steps(bytes, 1) == whole);
  ZH_CHECK(parse_in_steps(bytes, 7) == whole);
  return whole;
}

}  // namespace zerohop

#include "http/response_head.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "http/server_state.h"

namespace zerohop {
namespace {

TEST(ResponseHead, WritesStatusFieldsAndFraming) {
  ResponseHead head;
  head.status = 529;
  head.headers.push_back(HeaderField{"retry-after", "3"});
  ResponseFraming framing;
  framing.body = ResponseFraming::Body::kLength;
  framing.content_length = 12;
  framing.connection = "close";
  framing.date = "Thu, 01 Jan 2026 00:00:00 GMT";
  EXPECT_EQ(write_response_head(head, framing),
            "HTTP/1.1 529 Overloaded\r\nretry-after: 3\r\ndate: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
            "connection: close\r\ncontent-length: 12\r\n\r\n");
}

TEST(ResponseHead, EveryErrorStatusHasAPhrase) {
  for (int code = 0; code <= static_cast<int>(ErrorCode::kAddressInUse); ++code) {
    const ErrorTraits& traits = error_traits(static_cast<ErrorCode>(code));
    if (traits.status == 0) continue;
    EXPECT_NE(reason_phrase(traits.status), "Status") << traits.name;
  }
}

TEST(ResponseHead, DropsOrDisarmsFieldsThatWouldBreakTheMessage) {
  ResponseHead head;
  head.headers.push_back(HeaderField{"Transfer-Encoding", "chunked"});
  head.headers.push_back(HeaderField{"Connection", "upgrade"});
  head.headers.push_back(HeaderField{"", "x"});
  head.headers.push_back(HeaderField{"a\r\nb", "x"});
  head.headers.push_back(HeaderField{"x-a", std::string("1\r\n2\0003\x7f\t4", 9)});
  EXPECT_EQ(write_response_head(head, ResponseFraming{}),
            "HTTP/1.1 200 OK\r\nx-a: 1  2 3 \t4\r\n\r\n");
}

TEST(DateCache, FollowsTheClockBySeconds) {
  VirtualClock clock;
  DateCache cache;
  EXPECT_EQ(cache.text(clock.wall()), "Thu, 01 Jan 2026 00:00:00 GMT");
  clock.advance(std::chrono::milliseconds(999));
  EXPECT_EQ(cache.text(clock.wall()), "Thu, 01 Jan 2026 00:00:00 GMT");
  clock.advance(std::chrono::hours(24 * 58) + std::chrono::seconds(3661));
  EXPECT_EQ(cache.text(clock.wall()), "Sat, 28 Feb 2026 01:01:01 GMT");
}

}  // namespace
}  // namespace zerohop

// Response fields of an event stream (WHATWG HTML, "Server-sent events"). The events themselves are
// dialect and are written in api/. Any thread.
#pragma once

#include <vector>

#include "http/headers.h"

namespace zerohop {

/// `no-cache` keeps intermediaries from storing the stream, `x-accel-buffering: no` keeps nginx
/// from collecting it.
inline std::vector<HeaderField> event_stream_headers() {
  std::vector<HeaderField> headers;
  headers.reserve(8);
  headers.push_back(HeaderField{"content-type", "text/event-stream; charset=utf-8"});
  headers.push_back(HeaderField{"cache-control", "no-cache"});
  headers.push_back(HeaderField{"x-accel-buffering", "no"});
  return headers;
}

}  // namespace zerohop

// The trace that a request belongs to (core/trace_context.h), and whether its span is exported.
//
//                        traceparent        exporter    trace                         exported
//                        valid, sampled     any         the sender's                  if it is on
//                        valid, unsampled   any         the sender's                  no
//                        malformed          off         a new one, unsampled          no
//                        none               off         none                          no
//   POST                 none, malformed    on          a new one; the ratio decides  if sampled
//   others               malformed          on          a new one, unsampled          no
//   others               none               on          none: probes and scrapes      no
//
// So whoever sends a good traceparent finds its trace in our log and gets our span's id back, also
// where nothing is exported; and a sender that does not record is not overruled.
#pragma once

#include <cstdint>
#include <string>

#include "base/random.h"
#include "core/trace_context.h"
#include "http/message.h"

namespace zerohop {

/// A plain value; part of the RequestContext.
struct RequestTrace {
  TraceId trace;  ///< none: the request belongs to no trace
  SpanId span;    ///< of this server, for this request
  SpanId parent;  ///< the sender's; none: the trace begins here
  bool sampled = false;
  bool exported = false;  ///< a span of it goes to the collector
  std::string state;      ///< tracestate, handed on as it came

  bool valid() const { return trace.valid(); }
  /// What the answer tells: our own span, as the parent of whatever comes of the answer.
  std::string traceparent() const { return traceparent_text({trace, span, sampled}); }
};

struct TracingOptions {
  bool exports = false;  ///< spans go to a collector
  double ratio = 1;      ///< of the traces that begin here
  std::uint64_t seed = 0;
};

/// One owner, on one thread.
class RequestTracing {
 public:
  explicit RequestTracing(const TracingOptions& options);

  /// Once for each request. 14 ns where there is no traceparent and nothing is exported.
  RequestTrace begin(const RequestHead& head);

  bool exports() const { return exports_; }

  /// Whether a trace that begins here is recorded at `ratio`: all instances, and libraries that
  /// follow the OpenTelemetry SDK's TraceIdRatioBased, answer alike for the same id.
  static bool within(const TraceId& trace, double ratio);

 private:
  void take_sender(const RequestHead& head, const TraceParent& sender, RequestTrace& trace) const;
  SpanId new_span();

  const bool exports_;
  const double ratio_;
  Random random_;
};

}  // namespace zerohop

#include "app/request_trace.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace zerohop {
namespace {

void fill(std::span<unsigned char> bytes, Random& random) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t number = random.next();
    for (std::size_t i = 0; i < sizeof number; ++i) {
      bytes[at + i] = static_cast<unsigned char>(number >> 8 * i);
    }
  }
}

// A redactor may take sixteen decimal digits for the number of a card.
bool looks_decimal(std::span<const unsigned char> bytes) {
  return std::ranges::all_of(
      bytes, [](unsigned char byte) { return (byte >> 4) < 10 && (byte & 15) < 10; });
}

// A sender that names two traces names none.
std::optional<TraceParent> sender_of(const Headers& headers) {
  const std::vector<std::string_view> fields = headers.all("traceparent");
  return fields.size() == 1 ? parse_traceparent(fields.front()) : std::nullopt;
}

}  // namespace

RequestTracing::RequestTracing(const TracingOptions& options)
    : exports_(options.exports), ratio_(options.ratio), random_(options.seed) {}

bool RequestTracing::within(const TraceId& trace, double ratio) {
  if (ratio >= 1) return true;
  constexpr std::size_t kChance = 8;  // where the second half begins
  std::uint64_t number = 0;
  for (std::size_t i = kChance; i < trace.bytes.size(); ++i) number = number << 8 | trace.bytes[i];
  constexpr double kHalf = 9223372036854775808.0;  // 2^63
  return static_cast<double>(number >> 1) < ratio * kHalf;
}

SpanId RequestTracing::new_span() {
  SpanId span;
  do {
    fill(span.bytes, random_);
  } while (!span.valid() || looks_decimal(span.bytes));
  return span;
}

void RequestTracing::take_sender(const RequestHead& head, const TraceParent& sender,
                                 RequestTrace& trace) const {
  trace.trace = sender.trace;
  trace.parent = sender.span;
  trace.sampled = sender.sampled;
  trace.exported = exports_ && sender.sampled;
  trace.state = joined_tracestate(head.headers.all("tracestate"));
}

RequestTrace RequestTracing::begin(const RequestHead& head) {
  RequestTrace trace;
  const bool named = head.headers.contains("traceparent");
  const bool begins = exports_ && head.method == "POST";
  if (!named && !begins) return trace;
  trace.span = new_span();
  if (const std::optional<TraceParent> sender = sender_of(head.headers)) {
    take_sender(head, *sender, trace);
    return trace;
  }
  do {
    fill(trace.trace.bytes, random_);
  } while (!trace.trace.valid());
  trace.sampled = trace.exported = begins && within(trace.trace, ratio_);
  return trace;
}

}  // namespace zerohop

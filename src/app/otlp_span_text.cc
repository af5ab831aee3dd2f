#include "app/otlp_span_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "base/random.h"

namespace zerohop {
namespace {

using otlp::attribute;

// Of opentelemetry/proto/trace/v1/trace.proto.
constexpr int kInternal = 1;
constexpr int kServer = 2;
constexpr std::string_view kError = "{\"code\":2}";
constexpr unsigned kSampled = 0x01;
constexpr unsigned kKnowsRemote = 0x100;
constexpr unsigned kRemoteParent = 0x200;

struct SpanHead {
  const RequestTrace& trace;
  SpanId id;
  SpanId parent;
  std::string name;
  int kind = kInternal;
  unsigned flags = kSampled | kKnowsRemote;
  WallTime begin;
  WallTime end;
};

std::uint64_t unix_nanoseconds(WallTime time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

// Leaves the span open for its attributes.
void begin_span(std::string& out, const SpanHead& head) {
  otlp::separate(out);
  out.push_back('{');
  otlp::text_member(out, "traceId", trace_id_text(head.trace.trace));
  otlp::text_member(out, "spanId", span_id_text(head.id));
  if (head.parent.valid()) otlp::text_member(out, "parentSpanId", span_id_text(head.parent));
  if (!head.trace.state.empty()) otlp::text_member(out, "traceState", head.trace.state);
  otlp::member(out, "flags");
  out.append(std::to_string(head.flags));
  otlp::text_member(out, "name", head.name);
  otlp::member(out, "kind");
  out.append(std::to_string(head.kind));
  otlp::long_member(out, "startTimeUnixNano", unix_nanoseconds(head.begin));
  otlp::long_member(out, "endTimeUnixNano", unix_nanoseconds(head.end));
  otlp::member(out, "attributes");
  out.push_back('[');
}

void text(std::string& out, std::string_view key, std::string_view value) {
  if (!value.empty()) attribute(out, key, value);
}

// A name of few values, whatever strangers send as a method.
std::string_view known_method(std::string_view method) {
  static constexpr std::array<std::string_view, 9> kKnown{
      "GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "CONNECT", "TRACE"};
  const auto* const found = std::ranges::find(kKnown, method);
  return found == kKnown.end() ? "_OTHER" : *found;
}

std::string name_of(const SpanRecord& span) {
  const RequestRecord& request = span.request;
  if (!span.operation.empty()) {
    std::string name(span.operation);
    return request.model.empty() ? name : name + " " + request.model;
  }
  const std::string_view method = known_method(request.method);
  std::string name(method == "_OTHER" ? "HTTP" : method);
  return request.route.empty() ? name : name + " " + request.route;
}

// A stream that ended in an error has the status of its beginning.
bool failed_inside(const RequestRecord& request) {
  return request.status > 0 && request.status < 400 && !request.error_code.empty();
}

// By the conventions, what the client did wrong is no error of a server's span.
bool is_error(const RequestRecord& request) {
  return request.status >= 500 || failed_inside(request) || request.end == "aborted";
}

std::string error_type(const RequestRecord& request) {
  if (!request.error_code.empty()) return std::string(request.error_code);
  if (request.status >= 500) return std::to_string(request.status);
  return is_error(request) ? std::string(request.end) : std::string();
}

void append_http(std::string& out, const RequestRecord& request, const Endpoint& server) {
  attribute(out, "http.request.method", known_method(request.method));
  text(out, "http.route", request.route);
  if (request.status != 0) {
    attribute(out, "http.response.status_code", std::int64_t{request.status});
  }
  attribute(out, "url.scheme", server.transport == Transport::kTls ? "https" : "http");
  const bool local = !server.unix_path.empty();
  attribute(out, "server.address", local ? server.unix_path : server.host);
  if (!local) attribute(out, "server.port", std::int64_t{server.port});
  text(out, "client.address", request.peer);
  text(out, "user_agent.original", request.user_agent);
  text(out, "error.type", error_type(request));
}

void append_model(std::string& out, const SpanRecord& span) {
  const RequestRecord& request = span.request;
  if (span.operation.empty()) return;
  attribute(out, "gen_ai.operation.name", span.operation);
  attribute(out, "gen_ai.provider.name", "zerohop");
  text(out, "gen_ai.request.model", request.model);
  if (request.max_tokens > 0) {
    attribute(out, "gen_ai.request.max_tokens", std::int64_t{request.max_tokens});
  }
  if (request.usage.prompt_tokens == 0) return;  // nothing was computed
  text(out, "gen_ai.response.model", request.tier);
  attribute(out, "gen_ai.usage.input_tokens", std::int64_t{request.usage.prompt_tokens});
  attribute(out, "gen_ai.usage.cache_read.input_tokens",
            std::int64_t{request.usage.prompt_tokens_cached});
  attribute(out, "gen_ai.usage.output_tokens", std::int64_t{request.usage.output_tokens});
  if (!request.stop_reason.empty()) {
    otlp::list_attribute(out, "gen_ai.response.finish_reasons", request.stop_reason);
  }
}

void append_own(std::string& out, const SpanRecord& span) {
  const RequestRecord& request = span.request;
  text(out, "zerohop.request.id", request.id);
  text(out, "zerohop.tenant", request.tenant);
  text(out, "zerohop.end", request.end);
  text(out, "zerohop.state", request_state_name(request.state));
  if (!span.operation.empty()) {
    text(out, "zerohop.service_tier", request.class_name);
    attribute(out, "zerohop.stream", request.streamed);
    if (span.joined) attribute(out, "zerohop.joined", true);
    text(out, "zerohop.fallback", request.fallback);
    text(out, "zerohop.limit", request.limit);
    if (request.miss_cause != "none") text(out, "zerohop.cache_miss", request.miss_cause);
    if (request.first_token > Duration::zero()) {
      attribute(out, "zerohop.first_token_ms", to_milliseconds(request.first_token));
    }
  }
  for (const auto& [name, value] : request.labels) {
    attribute(out, "zerohop.request.label." + name, value);
  }
}

void append_request(std::string& out, const SpanRecord& span, const Endpoint& server) {
  const RequestTrace& trace = span.trace;
  SpanHead head{.trace = trace, .id = trace.span, .parent = trace.parent};
  head.name = name_of(span);
  head.kind = kServer;
  if (trace.parent.valid()) head.flags |= kRemoteParent;
  head.begin = span.began;
  head.end = span.began + span.request.total;
  begin_span(out, head);
  append_http(out, span.request, server);
  append_model(out, span);
  append_own(out, span);
  out.push_back(']');
  if (is_error(span.request)) {
    otlp::member(out, "status");
    out.append(kError);
  }
  out.push_back('}');
}

// The request's own id is random; ids made of it are as unlikely to meet others.
SpanId phase_id(const SpanId& request, std::size_t phase) {
  std::uint64_t number = 0;
  for (const unsigned char byte : request.bytes) number = number << 8 | byte;
  SpanId id;
  for (std::uint64_t round = phase + 1; !id.valid(); round += SpanRecord::kPhasesMax) {
    const std::uint64_t mixed = mix64(number + round);
    for (std::size_t i = 0; i < id.bytes.size(); ++i) {
      id.bytes[i] = static_cast<unsigned char>(mixed >> 8 * i);
    }
  }
  return id;
}

void append_phases(std::string& out, const SpanRecord& span) {
  for (std::size_t i = 0; i < span.phases.size(); ++i) {
    const SpanPhase& phase = span.phases[i];
    SpanHead head{
        .trace = span.trace, .id = phase_id(span.trace.span, i), .parent = span.trace.span};
    head.name = phase.name;
    head.begin = span.began + phase.begin;
    head.end = span.began + phase.end;
    begin_span(out, head);
    out.append("]}");
  }
}

}  // namespace

std::string otlp_span_text(std::span<const SpanRecord> spans, const Endpoint& server,
                           const otlp::Resource& resource) {
  std::string out;
  otlp::begin_payload(out, "Spans", resource);
  for (const SpanRecord& span : spans) {
    append_request(out, span, server);
    append_phases(out, span);
  }
  otlp::end_payload(out);
  return out;
}

}  // namespace zerohop

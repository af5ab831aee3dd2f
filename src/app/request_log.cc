#include "app/request_log.h"

#include <algorithm>
#include <charconv>

#include "app/model_names.h"
#include "app/request_context.h"
#include "app/service.h"
#include "base/hex.h"
#include "policy/redact.h"

namespace zerohop {
namespace {

std::string_view end_name(ExchangeEnd end) {
  switch (end) {
    case ExchangeEnd::kCompleted: return "completed";
    case ExchangeEnd::kPeerGone: return "peer_gone";
    case ExchangeEnd::kAborted: return "aborted";
    case ExchangeEnd::kTimedOut: return "timed_out";
  }
  return "unknown";
}

std::string shown(std::string_view text) {
  return redact_field(text, RequestRecord::kFieldBytesMax);
}

// Fields of the API and headers are written like this. What is not is a name that the client made
// up, perhaps with its prompt in the wrong place.
std::string field_name(std::string_view field) {
  constexpr std::size_t kLongest = 128;
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' ||
           c == '[' || c == ']';
  };
  if (field.size() <= kLongest && std::ranges::all_of(field, plain)) return shown(field);
  return "[" + std::to_string(field.size()) + " bytes]";
}

std::uint32_t retries_of(const Headers& headers) {
  const auto value = headers.find("x-stainless-retry-count");
  std::uint32_t count = 0;
  if (value) std::from_chars(value->data(), value->data() + value->size(), count);
  return count;
}

// A name that is neither the tier's nor an alias was served by the default tier.
std::string_view fallback_of(const RequestContext& context, std::string_view tier) {
  const std::string& asked = context.notes.model;
  if (asked.empty() || asked == tier || context.live == nullptr) return {};
  const auto named = resolve_model_name(context.live->config.model, tier, asked);
  return named.ok() && *named != asked ? "unknown_model" : std::string_view();
}

void take_head(const RequestHead& head, RequestRecord& record) {
  record.method = shown(head.method);
  record.peer = head.remote_address;
  record.client_subject = shown(head.client_subject);
  record.user_agent = shown(head.headers.find("user-agent").value_or(""));
  record.client_retries = retries_of(head.headers);
}

void take_notes(const RequestContext& context, RequestRecord& record) {
  const RequestNotes& notes = context.notes;
  record.model = shown(notes.model);
  record.class_name = priority_class_name(notes.priority);
  record.streamed = notes.streamed;
  record.max_tokens = notes.max_tokens;
  record.cache_key = notes.cache_key;
  record.fingerprint = notes.fingerprint;
  record.labels = notes.labels;
  record.queue = notes.queue.value_or(Duration::zero());
  record.first_token = notes.first_text.value_or(Duration::zero());
  if (notes.queue) record.miss_cause = miss_cause_name(notes.miss);
  if (notes.failure) {
    record.error_code = error_traits(notes.failure->code).name;
    record.error_field = field_name(notes.failure->field);
    record.error_message = shown(without_quoted(notes.failure->message));
  }
}

void take_context(const Service& service, const RequestContext& context, RequestRecord& record) {
  record.id = context.request_id;
  record.trace = context.trace.trace;
  record.span = context.trace.span;
  record.tenant = context.caller.tenant->name;
  record.tenant_number = context.caller.tenant->number;
  if (context.caller.key != nullptr) record.key = context.caller.key->id;
  record.state = context.life.state();
  record.usage = context.usage;
  record.soft_max_tokens = context.soft_max_tokens;
  record.constraint_relaxed = context.constraint_relaxed;
  record.stop_reason = context.stop_reason;
  if (context.granted && context.granted->lowered_by) {
    record.limit = limit_name_text(*context.granted->lowered_by);
  }
  const TimePoint now = service.clock.now();
  for (std::size_t i = 0; i < kRequestStates; ++i) {
    const auto state = static_cast<RequestState>(i);
    if (!is_final(state)) record.in_state[i] = context.life.time_in(state, now);
  }
  take_notes(context, record);
}

void take_tier(const Service& service, const RequestContext& context, RequestRecord& record) {
  if (!record.costs || !service.loaded_tier) return;
  record.tier = service.loaded_tier->name();
  record.fallback = fallback_of(context, record.tier);
}

RequestRecord begin_record(const Service& service) {
  RequestRecord record;
  const auto now = service.clock.wall().time_since_epoch();
  record.ended_unix_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  record.instance = service.config.instance.id;
  return record;
}

// What it would have been answered with alone.
int status_of(const RequestContext& context) {
  if (context.life.state() == RequestState::kDone) return 200;
  return context.notes.failure ? error_traits(context.notes.failure->code).status : 0;
}

}  // namespace

RequestRecord record_of(const Service& service, const ExchangeSummary& summary) {
  RequestRecord record = begin_record(service);
  record.route = std::string(summary.route);
  record.status = summary.status;
  record.end = end_name(summary.end);
  record.first_byte = summary.until_first_byte;
  record.total = summary.total;
  if (summary.head != nullptr) take_head(*summary.head, record);
  const RequestContext* context = context_of(summary.ticket);
  if (context != nullptr) {
    take_context(service, *context, record);
    record.costs = context->permit.held();
    take_tier(service, *context, record);
  }
  return record;
}

RequestRecord record_of(const Service& service, const BatchedRequest& request) {
  const RequestContext& context = request.context;
  RequestRecord record = begin_record(service);
  take_context(service, context, record);
  record.route = "/v1/messages/batches";
  record.batch = request.batch;
  record.custom_id = shown(request.custom_id);
  record.status = status_of(context);
  record.end = end_name(context.life.state() == RequestState::kCancelled ? ExchangeEnd::kAborted
                                                                         : ExchangeEnd::kCompleted);
  record.total = context.life.age(service.clock.now());
  record.costs = true;
  take_tier(service, context, record);
  return record;
}

LogLevel level_of(const RequestRecord& record) {
  return record.costs || record.status >= 500 ? LogLevel::kInfo : LogLevel::kDebug;
}

namespace {

// Collects the fields of a line; what says nothing is left out.
class Line {
 public:
  void text(std::string_view key, std::string_view value) {
    if (!value.empty()) fields_.push_back({std::string(key), std::string(value)});
  }
  void number(std::string_view key, std::uint64_t value) {
    fields_.push_back({std::string(key), std::to_string(value), LogValue::kNumber});
  }
  void number_above_zero(std::string_view key, std::uint64_t value) {
    if (value > 0) number(key, value);
  }
  void hash(std::string_view key, std::uint64_t value) {
    if (value != 0) text(key, hex_of_number(value));
  }
  void milliseconds(std::string_view key, Duration time) {
    if (time <= Duration::zero()) return;
    const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
    std::string text = std::to_string(microseconds / 1'000) + ".";
    const std::string rest = std::to_string(microseconds % 1'000);
    text.append(3 - rest.size(), '0').append(rest);
    fields_.push_back({std::string(key), std::move(text), LogValue::kNumber});
  }
  void flag(std::string_view key, bool value) {
    if (value) fields_.push_back({std::string(key), "true", LogValue::kNumber});
  }

  std::vector<LogField> take() { return std::move(fields_); }

 private:
  std::vector<LogField> fields_;
};

void add_who(const RequestRecord& record, Line& line) {
  line.text("id", record.id);
  line.text("trace_id", trace_id_text(record.trace));
  line.text("span_id", span_id_text(record.span));
  line.text("instance", record.instance);
  line.text("tenant", record.tenant);
  line.text("key", record.key);
  line.text("method", record.method);
  line.text("route", record.route);
  line.text("batch", record.batch);
  line.text("custom_id", record.custom_id);
  line.text("peer", record.peer);
  line.text("client", record.client_subject);
  line.text("user_agent", record.user_agent);
  line.number_above_zero("client_retries", record.client_retries);
}

void add_outcome(const RequestRecord& record, Line& line) {
  line.number("status", static_cast<std::uint64_t>(record.status));
  line.text("end", record.end);
  line.text("state", request_state_name(record.state));
  line.text("stop_reason", record.stop_reason);
  line.text("error", record.error_code);
  line.text("error_field", record.error_field);
  line.text("error_message", record.error_message);
}

void add_work(const RequestRecord& record, Line& line) {
  line.text("model", record.model);
  line.text("tier", record.tier);
  line.text("fallback", record.fallback);
  line.text("service_tier", record.class_name);
  line.flag("stream", record.streamed);
  line.number("prompt_tokens", record.usage.prompt_tokens);
  line.number("cached_tokens", record.usage.prompt_tokens_cached);
  line.number("output_tokens", record.usage.output_tokens);
  line.number_above_zero("thinking_tokens", record.usage.thinking_tokens);
  line.number_above_zero("max_tokens", record.max_tokens);
  line.number_above_zero("soft_max_tokens", record.soft_max_tokens);
  line.text("limit", record.limit);
  line.text("constraint_relaxed", record.constraint_relaxed);
  if (record.miss_cause != "none") line.text("cache_miss", record.miss_cause);
  line.hash("cache_key", record.cache_key);
  line.hash("fingerprint", record.fingerprint);
}

constexpr std::array<std::string_view, 5> kStateFields{"idle_ms", "receiving_ms", "validating_ms",
                                                       "inferring_ms", "streaming_ms"};

void add_times(const RequestRecord& record, Line& line) {
  line.milliseconds("queue_ms", record.queue);
  line.milliseconds("first_byte_ms", record.first_byte);
  line.milliseconds("first_token_ms", record.first_token);
  for (std::size_t i = 0; i < kStateFields.size(); ++i) {
    line.milliseconds(kStateFields[i], record.in_state[i]);
  }
  line.milliseconds("total_ms", record.total);
}

}  // namespace

std::vector<LogField> log_fields(const RequestRecord& record) {
  Line line;
  add_who(record, line);
  add_outcome(record, line);
  if (record.costs) add_work(record, line);
  add_times(record, line);
  for (const auto& [label, value] : record.labels) line.text("label." + label, value);
  return line.take();
}

void log_record(const RequestRecord& record) {
  const LogLevel level = level_of(record);
  if (log_enabled(level)) log_event(level, "request", log_fields(record));
}

}  // namespace zerohop

#include "app/otlp_exporter.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <charconv>

#include "app/json_text.h"
#include "app/otlp_metric_text.h"
#include "app/otlp_span_text.h"
#include "app/version.h"
#include "app/worker_pool.h"
#include "base/log.h"

namespace zerohop {

namespace asio = boost::asio;
namespace json = boost::json;

namespace {

constexpr auto kAwaitTuple = asio::as_tuple(asio::use_awaitable);

bool is_success(int status) { return status >= 200 && status < 300; }

bool shall_be_sent_again(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

bool is_taken(OtlpResult result) {
  return result == OtlpResult::kOk || result == OtlpResult::kPartial;
}

bool is_final(OtlpResult result) { return is_taken(result) || result == OtlpResult::kRefused; }

// A count of 64 bits comes as a text, as we send them, or as a number.
std::uint64_t count_at(const json::object& object, std::string_view key) {
  const std::string_view text = text_at(object, key);
  std::uint64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  constexpr double kCountMax = 1e15;
  const double number = std::clamp(number_at(object, key), 0.0, kCountMax);
  return count > 0 ? count : static_cast<std::uint64_t>(number);
}

// Of `{"partialSuccess":{"rejectedSpans":"3"}}`; 0: everything was taken.
std::uint64_t rejected_in(std::string_view body) {
  const std::optional<json::object> object = object_in(body);
  const json::value* partial = object ? object->if_contains("partialSuccess") : nullptr;
  if (partial == nullptr || !partial->is_object()) return 0;
  const json::object& counts = partial->get_object();
  return std::max(count_at(counts, "rejectedSpans"), count_at(counts, "rejectedDataPoints"));
}

// With those of their phases, as a collector counts.
std::size_t spans_in(const std::vector<SpanRecord>& requests) {
  std::size_t spans = 0;
  for (const SpanRecord& request : requests) spans += request.spans();
  return spans;
}

PacingOptions pacing_of(const OtlpExporterParts& parts, std::uint64_t salt) {
  PacingOptions options;
  options.interval = std::chrono::seconds(parts.service->config.otlp.interval_seconds);
  options.backoff_first = parts.backoff_first;
  options.seed = parts.seed + salt;
  return options;
}

}  // namespace

// ---- Beginning and end ----

OtlpExporter::OtlpExporter(OtlpExporterParts parts, const asio::any_io_executor& executor)
    : parts_(std::move(parts)),
      headers_(config(), parts_.environment),
      collector_(collector_of(config())),
      metrics_(parts_.service->registry),
      timer_(executor),
      traces_{OtlpSignal::kTraces,
              "/v1/traces",
              exports_traces(config()),
              OtlpPacing(pacing_of(parts_, 0)),
              {}},
      numbers_{OtlpSignal::kMetrics,
               "/v1/metrics",
               exports_metrics(config()),
               OtlpPacing(pacing_of(parts_, 1)),
               {}} {
  const TimePoint began = now();
  traces_.pacing.succeeded(began);
  numbers_.pacing.succeeded(began);
}

Result<std::shared_ptr<OtlpExporter>> OtlpExporter::open(OtlpExporterParts parts,
                                                         const asio::any_io_executor& executor) {
  std::shared_ptr<OtlpExporter> exporter(new OtlpExporter(std::move(parts), executor));
  const Result<std::vector<HeaderField>> readable = exporter->headers_.read();
  if (!readable.ok()) return readable.error();
  return exporter;
}

void OtlpExporter::start(const std::shared_ptr<OtlpExporter>& exporter) {
  SpanQueue::Watch watch;
  const std::weak_ptr<OtlpExporter> weak = exporter;
  watch.lost = [weak](std::size_t spans) {
    if (const auto self = weak.lock()) self->metrics_.count_lost(SpanLoss::kQueueFull, spans);
  };
  watch.full_at = std::min<std::size_t>(kBatchMax, exporter->config().spans_max);
  watch.full = [weak] {
    const auto self = weak.lock();
    if (!self || self->traces_.pacing.due() <= self->now()) return;
    self->traces_.pacing.hurry(self->now());
    if (self->traces_.pacing.due() <= self->now()) self->timer_.cancel();
  };
  exporter->parts_.service->spans.watch(std::move(watch));
  asio::co_spawn(exporter->timer_.get_executor(), run(exporter), asio::detached);
}

void OtlpExporter::finish() {
  if (finish_by_) return;
  finish_by_ = now() + kFinishTime;
  timer_.cancel();
  if (posting_ != nullptr) posting_->end_at(*finish_by_);
}

Awaitable<void> OtlpExporter::run(std::shared_ptr<OtlpExporter> self) {
  while (!self->finish_by_) {
    co_await self->wait();
    const TimePoint now = self->now();
    if (self->traces_.on && now >= self->traces_.pacing.due()) co_await self->export_spans();
    if (self->numbers_.on && now >= self->numbers_.pacing.due()) co_await self->export_metrics();
  }
  co_await self->end();
}

Awaitable<void> OtlpExporter::wait() {
  TimePoint due = TimePoint::max();
  for (const Channel* channel : {&traces_, &numbers_}) {
    if (channel->on) due = std::min(due, channel->pacing.due());
  }
  if (finish_by_ || due <= now()) co_return;
  timer_.expires_at(due);
  co_await timer_.async_wait(kAwaitTuple);
}

// Everything that waits gets one attempt.
Awaitable<void> OtlpExporter::end() {
  bool taken = traces_.on;
  while (taken && (batch_ || parts_.service->spans.size() > 0) && now() < *finish_by_) {
    const OtlpResult result = co_await send_batch();
    taken = is_final(result);
  }
  drop_batch(SpanLoss::kShutdown);
  SpanQueue& waiting = parts_.service->spans;
  metrics_.count_lost(SpanLoss::kShutdown, spans_in(waiting.take(waiting.size())));
  if (numbers_.on && now() < *finish_by_) co_await export_metrics();
}

// ---- Traces ----

Awaitable<void> OtlpExporter::export_spans() {
  while (batch_ || parts_.service->spans.size() > 0) {
    const OtlpResult result = co_await send_batch();
    if (finish_by_) co_return;
    if (!is_final(result)) {
      if (traces_.pacing.tried_enough(now())) {
        drop_batch(SpanLoss::kGivenUp);
        traces_.pacing.gave_up();
      }
      co_return;
    }
  }
  traces_.pacing.succeeded(now());
}

Awaitable<OtlpResult> OtlpExporter::send_batch() {
  if (!batch_) co_await fill_batch();
  const Attempt attempt = co_await send(traces_, batch_->text);
  note(traces_, attempt);
  if (attempt.result == OtlpResult::kRefused) {
    drop_batch(SpanLoss::kRefused);
  } else if (is_taken(attempt.result)) {
    metrics_.count_lost(SpanLoss::kRefused,
                        std::min<std::uint64_t>(attempt.rejected, batch_->spans));
    batch_.reset();
  }
  co_return attempt.result;
}

Awaitable<void> OtlpExporter::fill_batch() {
  Batch batch;
  std::vector<SpanRecord> spans = parts_.service->spans.take(kBatchMax);
  batch.spans = spans_in(spans);
  auto write = [spans = std::move(spans), server = parts_.server, resource = resource()] {
    return otlp_span_text(spans, server, resource);
  };
  batch.text = co_await run_on_worker(parts_.service->workers, std::move(write));
  batch_ = std::move(batch);
}

void OtlpExporter::drop_batch(SpanLoss cause) {
  if (!batch_) return;
  metrics_.count_lost(cause, batch_->spans);
  batch_.reset();
}

// ---- Metrics ----

Awaitable<void> OtlpExporter::export_metrics() {
  Service& service = *parts_.service;
  service.registry.refresh();
  auto write = [&service, resource = resource()] {
    const MetricTimes times{service.began, service.clock.wall()};
    return otlp_metric_text(service.registry, times, resource);
  };
  const std::string text = co_await run_on_worker(service.workers, std::move(write));
  const Attempt attempt = co_await send(numbers_, text);
  note(numbers_, attempt);
  // The next numbers are newer than those that a collector would have to be sent again.
  if (is_final(attempt.result)) numbers_.pacing.succeeded(now());
}

// ---- One attempt ----

Awaitable<OtlpExporter::Attempt> OtlpExporter::send(const Channel& channel, std::string_view text) {
  auto read = [this] { return headers_.read(); };
  Result<std::vector<HeaderField>> headers =
      co_await run_on_worker(parts_.service->workers, std::move(read));
  if (!headers.ok()) {
    Attempt unsent;
    unsent.reason = headers.error().message;
    co_return unsent;
  }
  PostRequest request;
  request.url = collector_;
  request.url.path += channel.path;
  request.headers = std::move(headers).value();
  request.headers.push_back({"content-type", "application/json"});
  request.headers.push_back({"user-agent", "zerohop/" + std::string(kVersion)});
  request.body = text;
  request.deadline = now() + std::chrono::seconds(config().timeout_seconds);
  if (finish_by_) request.deadline = std::min(request.deadline, *finish_by_);
  HttpPost post(timer_.get_executor());
  posting_ = &post;
  const Result<PostReply> reply = co_await post.send(std::move(request));
  posting_ = nullptr;
  co_return judge(reply);
}

// What the collector writes is never repeated anywhere.
OtlpExporter::Attempt OtlpExporter::judge(const Result<PostReply>& reply) const {
  Attempt attempt;
  if (!reply.ok()) {
    attempt.reason = reply.error().message;
    return attempt;
  }
  if (is_success(reply->status)) {
    attempt.rejected = rejected_in(reply->body);
    attempt.result = attempt.rejected > 0 ? OtlpResult::kPartial : OtlpResult::kOk;
    if (attempt.rejected > 0) attempt.reason = "a part was refused";
    return attempt;
  }
  const bool again = shall_be_sent_again(reply->status);
  attempt.result = again ? OtlpResult::kRetry : OtlpResult::kRefused;
  attempt.reason = "status " + std::to_string(reply->status);
  const auto wall = parts_.service->clock.wall();
  attempt.retry_after = parse_retry_after(reply->retry_after, wall).value_or(Duration::zero());
  return attempt;
}

// Each cause is told once.
void OtlpExporter::note(Channel& channel, const Attempt& attempt) {
  metrics_.count_export(channel.signal, attempt.result);
  if (!is_final(attempt.result)) channel.pacing.failed(now(), attempt.retry_after);
  if (attempt.reason == channel.complaint) return;
  const std::string before = std::exchange(channel.complaint, attempt.reason);
  std::vector<LogField> fields{{"signal", std::string(otlp_signal_name(channel.signal))},
                               {"collector", host_field(collector_)}};
  if (attempt.reason.empty()) {
    log_event(LogLevel::kInfo, "the collector takes telemetry again", std::move(fields));
    return;
  }
  fields.push_back({"result", std::string(otlp_result_name(attempt.result))});
  fields.push_back({"reason", attempt.reason});
  log_event(LogLevel::kWarning, "telemetry does not reach the collector", std::move(fields));
}

otlp::Resource OtlpExporter::resource() const {
  const Service& service = *parts_.service;
  const std::shared_ptr<const LiveConfig> live = service.live.get();
  otlp::Resource resource;
  resource.service_name = config().service_name;
  resource.version = std::string(kVersion);
  resource.instance = service.config.instance.id;
  resource.pool = service.config.instance.pool;
  resource.labels = live == nullptr ? service.config.instance.labels : live->config.instance.labels;
  resource.attributes = config().resource_attributes;
  return resource;
}

}  // namespace zerohop

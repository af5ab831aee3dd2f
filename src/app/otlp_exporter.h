// OtlpExporter: sends spans and metrics to an OpenTelemetry collector (OTLP/HTTP with JSON).
//
//   request over ─▶ SpanQueue ──────────┐ every otlp.interval_seconds, or when kBatchMax wait
//                                       ▼
//   registry ──────────────▶ text (worker) ─▶ POST (I/O thread, nothing blocks) ─▶ collector
//                                       │
//          ok: next one ◀───────────────┼──────────────▶ 4xx: dropped and counted
//                                       ▼
//             429, 502, 503, 504, no answer: the same spans again, later (otlp_pacing.h)
//
// One request at a time. While the collector fails, one batch is kept as text, at most
// otlp.spans_max spans wait behind it, and the oldest of them go; a request never waits for any of
// it. Metrics are cumulative, so what was not taken is not kept: the next numbers say all of it.
//
// There is no OpenTelemetry SDK for C++ in the distributions that we build on, and what it would
// bring (processors, batching, two serialisers) is these few files.
//
// I/O thread; held by its own coroutine until finish() has come to its end.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/http_post.h"
#include "app/otlp_pacing.h"
#include "app/otlp_settings.h"
#include "app/otlp_text.h"
#include "app/request_span.h"
#include "app/service.h"
#include "http/awaitable.h"
#include "http/endpoint.h"
#include "telemetry/otlp_metrics.h"

namespace zerohop {

struct OtlpExporterParts {
  Service* service = nullptr;  ///< outlives the exporter and its coroutine
  Endpoint server;             ///< where requests come in
  Environment environment;     ///< for the values of headers
  std::uint64_t seed = 0;
  Duration backoff_first = PacingOptions().backoff_first;
};

class OtlpExporter {
 public:
  /// Requests whose spans go into one to the collector.
  static constexpr std::size_t kBatchMax = 512;
  /// What is left may take so long at the end.
  static constexpr std::chrono::seconds kFinishTime{3};

  /// Errors: kConfiguration (a header's value cannot be read).
  static Result<std::shared_ptr<OtlpExporter>> open(OtlpExporterParts parts,
                                                    const boost::asio::any_io_executor& executor);
  /// Begins to send, once the executor runs.
  static void start(const std::shared_ptr<OtlpExporter>& exporter);

  /// Sends what waits, once, for kFinishTime at most, and then no more. The context of the executor
  /// has work until then. Idempotent.
  void finish();

  OtlpExporter(const OtlpExporter&) = delete;
  OtlpExporter& operator=(const OtlpExporter&) = delete;

 private:
  // One kind of what is sent.
  struct Channel {
    OtlpSignal signal;
    std::string path;
    bool on;
    OtlpPacing pacing;
    std::string complaint;  // of the last attempt; empty: it was taken
  };
  struct Batch {
    std::string text;
    std::size_t spans = 0;  // in it
  };
  struct Attempt {
    OtlpResult result = OtlpResult::kUnreachable;
    std::string reason;
    Duration retry_after{};
    std::uint64_t rejected = 0;  // with kPartial: spans or data points
  };

  OtlpExporter(OtlpExporterParts parts, const boost::asio::any_io_executor& executor);

  static Awaitable<void> run(std::shared_ptr<OtlpExporter> self);
  Awaitable<void> wait();
  Awaitable<void> export_spans();
  Awaitable<void> export_metrics();
  Awaitable<void> end();
  Awaitable<OtlpResult> send_batch();
  Awaitable<void> fill_batch();
  Awaitable<Attempt> send(const Channel& channel, std::string_view text);
  Attempt judge(const Result<PostReply>& reply) const;
  void note(Channel& channel, const Attempt& attempt);
  void drop_batch(SpanLoss cause);
  TimePoint now() const { return parts_.service->clock.now(); }
  otlp::Resource resource() const;
  const OtlpConfig& config() const { return parts_.service->config.otlp; }

  const OtlpExporterParts parts_;
  const SecretHeaders headers_;
  const HttpUrl collector_;
  OtlpMetrics metrics_;
  boost::asio::steady_timer timer_;
  Channel traces_;
  Channel numbers_;
  std::optional<Batch> batch_;          // being sent, or to be sent again
  HttpPost* posting_ = nullptr;         // what is under way
  std::optional<TimePoint> finish_by_;  // it is to come to its end
};

}  // namespace zerohop

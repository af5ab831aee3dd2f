// What tracing costs a request: looking for a traceparent where nothing is exported (BM_Untraced),
// beginning a trace, and making the span of a request that is over (BM_SpanOfARequest), which is
// all that the I/O thread does for it; a worker writes it down (BM_SpanText). Goal: 5 µs a request.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "app/otlp_metric_text.h"
#include "app/otlp_span_text.h"
#include "app/request_context.h"
#include "app/request_log.h"
#include "app/request_span.h"
#include "app/service.h"

namespace zerohop {
namespace {

RequestHead head_of(const char* traceparent) {
  RequestHead head;
  head.method = "POST";
  head.path = "/v1/messages";
  for (const char* name : {"host", "user-agent", "accept", "content-type", "content-length",
                           "anthropic-version", "x-api-key", "x-stainless-lang", "x-stainless-os",
                           "x-stainless-runtime", "accept-encoding"}) {
    head.headers.add(name, "a value of some length");
  }
  if (traceparent != nullptr) head.headers.add("traceparent", traceparent);
  return head;
}

constexpr const char* kParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

void BM_Untraced(benchmark::State& state) {
  RequestTracing tracing({false, 1, 1});
  const RequestHead head = head_of(nullptr);
  for (auto _ : state) benchmark::DoNotOptimize(tracing.begin(head));
}
BENCHMARK(BM_Untraced);

void BM_Begun(benchmark::State& state) {
  RequestTracing tracing({true, 1, 1});
  const RequestHead head = head_of(nullptr);
  for (auto _ : state) benchmark::DoNotOptimize(tracing.begin(head));
}
BENCHMARK(BM_Begun);

void BM_Continued(benchmark::State& state) {
  RequestTracing tracing({true, 1, 1});
  const RequestHead head = head_of(kParent);
  for (auto _ : state) benchmark::DoNotOptimize(tracing.begin(head));
}
BENCHMARK(BM_Continued);

// A request that went through all states.
struct Finished {
  Finished() : context(std::make_shared<RequestContext>(clock.now(), service.live.get())) {
    const Duration step = std::chrono::milliseconds(10);
    context->trace = service.tracing.begin(head);
    for (const RequestState next :
         {RequestState::kReceiving, RequestState::kValidating, RequestState::kInferring,
          RequestState::kStreaming, RequestState::kDone}) {
      clock.advance(step);
      context->life.advance(next, clock.now());
    }
    context->notes.model = "claude-sonnet-4-5";
    context->notes.queue = std::chrono::milliseconds(1);
    context->notes.first_text = std::chrono::milliseconds(35);
    context->notes.last_text = std::chrono::milliseconds(48);
    record.id = "req_0123456789abcdefghijABCD";
    record.instance = "cpu-7f3a2b1c";
    record.tenant = "default";
    record.method = "POST";
    record.route = "/v1/messages";
    record.peer = "10.1.2.3";
    record.user_agent = "Anthropic/Python 0.49.0";
    record.model = "claude-sonnet-4-5";
    record.tier = "smollm2-135m";
    record.stop_reason = "end_turn";
    record.status = 200;
    record.usage.prompt_tokens = 100;
    record.total = 5 * step;
  }

  SpanRecord span() {
    ticket = context;
    const ExchangeSummary summary{.head = &head,
                                  .ticket = ticket,
                                  .route = "/v1/messages",
                                  .status = 200,
                                  .end = ExchangeEnd::kCompleted,
                                  .streamed = true,
                                  .request_body_bytes = 0,
                                  .response_bytes = 0,
                                  .received_at = TimePoint(),
                                  .until_first_byte = {},
                                  .total = record.total};
    return span_of(service, summary, *context, record);
  }

  static Config config() {
    Config config;
    config.instance.id = "bench-1";
    config.otlp.endpoint = "http://127.0.0.1:4318";
    return config;
  }

  VirtualClock clock;
  Service service{config(), clock};
  RequestHead head = head_of(kParent);
  std::shared_ptr<RequestContext> context;
  std::shared_ptr<void> ticket;
  RequestRecord record;
};

void BM_SpanOfARequest(benchmark::State& state) {
  Finished finished;
  for (auto _ : state) {
    finished.service.spans.add(finished.span());
  }
}
BENCHMARK(BM_SpanOfARequest);

// A full batch; items are spans of requests.
void BM_SpanText(benchmark::State& state) {
  Finished finished;
  const std::vector<SpanRecord> spans(512, finished.span());
  Endpoint server;
  server.host = "127.0.0.1";
  std::size_t bytes = 0;
  for (auto _ : state) {
    const std::string text = otlp_span_text(spans, server, {"zerohop", "1", "i", "p", {}, {}});
    bytes = text.size();
    benchmark::DoNotOptimize(text.data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * spans.size()));
  state.counters["bytes_a_span"] = static_cast<double>(bytes) / static_cast<double>(spans.size());
}
BENCHMARK(BM_SpanText);

}  // namespace
}  // namespace zerohop

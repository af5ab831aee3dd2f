// Cost of an update and of a page.
//
//   BM_CounterAdd        one thread
//   BM_CounterAdd/2      two threads on one counter, which is the worst there is
//   BM_HistogramObserve  likewise
//   BM_SlidingMax        the window behind a maximum gauge
//   BM_Lookup            a handle by name and labels, as once for a request
//   BM_StepOfEight       all that is noted in a step of eight answers with a token each
//   BM_PageOfTenants     a page with the series of so many tenants
//   BM_ObjectiveCount    an answer for so many objectives; its rate is that of counters
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "telemetry/observed_step.h"
#include "telemetry/request_metrics.h"
#include "telemetry/sliding_window.h"
#include "telemetry/slo_metrics.h"
#include "telemetry/tier_metrics.h"

namespace zerohop {
namespace {

MetricsRegistry& shared_registry() {
  static MetricsRegistry registry({"i", "p"});
  return registry;
}

void BM_CounterAdd(benchmark::State& state) {
  Counter counter = shared_registry().counter("zerohop_resumes_total");
  for (auto _ : state) counter.add();
}
BENCHMARK(BM_CounterAdd)->ThreadRange(1, 2)->UseRealTime();

void BM_HistogramObserve(benchmark::State& state) {
  Histogram histogram = shared_registry().histogram("zerohop_engine_step_seconds");
  Duration duration{};
  for (auto _ : state) {
    duration += std::chrono::microseconds(37);
    if (duration > std::chrono::seconds(1)) duration = Duration::zero();
    histogram.observe(duration);
  }
}
BENCHMARK(BM_HistogramObserve)->ThreadRange(1, 2)->UseRealTime();

void BM_SlidingMax(benchmark::State& state) {
  SlidingMax window;
  TimePoint now{};
  double value = 0;
  for (auto _ : state) {
    now += std::chrono::milliseconds(1);
    value = value > 100 ? 0 : value + 0.1;
    window.observe(value, now);
  }
}
BENCHMARK(BM_SlidingMax);

void BM_Lookup(benchmark::State& state) {
  MetricsRegistry& registry = shared_registry();
  for (auto _ : state)
    registry.counter("zerohop_http_requests_total", {"/v1/messages", "200"}).add();
}
BENCHMARK(BM_Lookup)->ThreadRange(1, 2)->UseRealTime();

void BM_StepOfEight(benchmark::State& state) {
  const SteadyClock clock;
  MetricsRegistry registry({"instance-1", "cpu"});
  ObservedStep step(registry, clock);
  for (auto _ : state) step.note();
}
BENCHMARK(BM_StepOfEight);

void BM_PageOfTenants(benchmark::State& state) {
  const auto tenants = static_cast<std::size_t>(state.range(0));
  SteadyClock clock;
  MetricsRegistry registry({"instance-1", "cpu"}, metric_table(), 4 * tenants + 200);
  RequestMetrics requests(registry, clock);
  TierMetrics tier(registry, clock, {"small", 8, 1, 1});
  for (std::size_t i = 0; i < tenants; ++i) {
    const std::string name = "tenant-" + std::to_string(i);
    FinishedRequest request;
    request.tenant = name;
    request.status = 200;
    request.input_tokens = 100 + i;
    request.cached_tokens = 50;
    request.output_tokens = 10;
    requests.count(request);
    requests.count_cost(name, 77);
  }
  std::size_t bytes = 0;
  for (auto _ : state) {
    const std::string page = registry.prometheus_text();
    bytes = page.size();
    benchmark::DoNotOptimize(page.data());
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(BM_PageOfTenants)->Arg(1)->Arg(200)->Arg(1'000)->Unit(benchmark::kMillisecond);

void BM_ObjectiveCount(benchmark::State& state) {
  std::vector<SloObjective> objectives;
  for (int i = 0; i < state.range(0); ++i) {
    SloObjective one;
    one.name = "o" + std::to_string(i);
    one.indicator = static_cast<SloIndicator>(1 + i % 3);
    one.threshold = std::chrono::seconds(1);
    objectives.push_back(one);
  }
  MetricsRegistry registry({"i", "p"});
  const SloMetrics slo(registry, objectives, "small");
  AnswerForSlo answer;
  answer.first_text = answer.longest_pause = answer.total = std::chrono::milliseconds(500);
  for (auto _ : state) {
    benchmark::DoNotOptimize(answer);
    slo.count_answer(answer);
  }
  // Each is good, so both of its counters move.
  state.SetItemsProcessed(2 * state.range(0) * state.iterations());
}
BENCHMARK(BM_ObjectiveCount)->Arg(1)->Arg(5)->Arg(32);

}  // namespace
}  // namespace zerohop

// What the door's prediction of the time to the first token costs, beside the copy of the snapshot.
#include <benchmark/benchmark.h>

#include "core/service_estimate.h"

namespace zerohop {
namespace {

EngineSnapshot busy_engine() {
  EngineSnapshot engine;
  engine.prefill_tokens_per_second = 500;
  engine.decode_step_seconds = 0.05;
  engine.request_seconds = 4;
  engine.sequences_max = 8;
  engine.decoding = 8;
  engine.queued = 100;
  engine.queued_tokens = 50'000;
  engine.prefill_tokens = 700;
  return engine;
}

void prediction(benchmark::State& state) {
  const EngineSnapshot engine = busy_engine();
  ServiceQuestion question{0, 1, std::chrono::milliseconds(100), InFront{12, 6'000}};
  for (auto _ : state) {
    benchmark::DoNotOptimize(question);
    benchmark::DoNotOptimize(estimate_service(engine, question));
  }
}
BENCHMARK(prediction);

}  // namespace
}  // namespace zerohop

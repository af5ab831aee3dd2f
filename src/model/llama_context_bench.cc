// What the headers of this folder state about saved ranges, compression and the cell mirror, on the
// default model; times are for 256 tokens unless said otherwise.

#include <benchmark/benchmark.h>

#include <string>

#include "model/cell_mirror.h"
#include "model/default_model_path.h"
#include "model/llama_model.h"

namespace zerohop {
namespace {

constexpr std::int32_t kHead = 256;
constexpr std::int32_t kEnd = 512;
constexpr PositionRange kTail{kHead, kEnd};
constexpr SlotId kFirst{0};
constexpr SlotId kSecond{1};

const Model* default_model() {
  static const auto loaded = [] {
    LlamaModelOptions options;
    options.path = default_model_path();
    return load_llama_model(options);
  }();
  return loaded.ok() ? loaded->get() : nullptr;
}

// A pool with kEnd filled cells in the first slot; null without the model.
std::unique_ptr<ModelContext> filled_pool(benchmark::State& state) {
  const Model* model = default_model();
  if (model == nullptr) {
    state.SkipWithError("the default model is not here");
    return nullptr;
  }
  ContextOptions options;
  options.parked = 8;
  options.cells = 8192;
  auto made = model->make_context(options);
  if (!made.ok() || !(*made)->fill(kFirst, kEnd).ok()) {
    state.SkipWithError("no context");
    return nullptr;
  }
  return std::move(made).value();
}

void BM_SaveRange(benchmark::State& state) {
  const auto context = filled_pool(state);
  if (context == nullptr) return;
  for (auto _ : state) benchmark::DoNotOptimize(context->save_range(kFirst, kTail).ok());
}

void restore(benchmark::State& state, bool compressed) {
  const auto context = filled_pool(state);
  if (context == nullptr) return;
  std::vector<std::byte> bytes = context->save_range(kFirst, kTail).value();
  if (compressed) bytes = context->compress(bytes);
  context->copy(kFirst, kSecond, {0, kHead});
  for (auto _ : state) {
    context->remove(kSecond, kTail);
    if (!context->restore_range(kSecond, kTail, bytes).ok()) state.SkipWithError("not restored");
  }
}

void BM_RestoreRange(benchmark::State& state) { restore(state, false); }
void BM_RestoreCompressedRange(benchmark::State& state) { restore(state, true); }

void BM_Compress(benchmark::State& state) {
  const auto context = filled_pool(state);
  if (context == nullptr) return;
  const std::vector<std::byte> bytes = context->save_range(kFirst, kTail).value();
  for (auto _ : state) benchmark::DoNotOptimize(context->compress(bytes).size());
}

// A decode of eight rows as the mirror follows it.
void BM_MirrorOfOneDecode(benchmark::State& state) {
  CellMirror mirror(8192, 8);
  std::vector<BatchRow> rows(8);
  for (std::int32_t i = 0; i < 8; ++i) rows[static_cast<std::size_t>(i)].slot = SlotId(i);
  for (auto _ : state) {
    if (mirror.append(rows)) continue;
    for (std::int32_t i = 0; i < 8; ++i) mirror.cut(SlotId(i), 0);
  }
}

BENCHMARK(BM_SaveRange)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_RestoreRange)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_RestoreCompressedRange)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Compress)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_MirrorOfOneDecode);

}  // namespace
}  // namespace zerohop

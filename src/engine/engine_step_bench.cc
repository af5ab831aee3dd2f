// What the loop itself costs a step, everything but the model: planning, the cache's books, fair
// queue, ladder, snapshot. Eight answers on a context that computes nothing. The cache may cost
// 0.5 % of a step of 5 ms when nothing hits, that is 25 µs. And the same with a constraint on each
// answer that allows what the model says: a check a token. A step that did not bring every answer
// one token further ends the program.

#include <benchmark/benchmark.h>

#include "constrain/grammar_machine.h"
#include "engine/engine_harness.h"

namespace zerohop {
namespace {

constexpr std::uint32_t kSequences = 8;
constexpr std::uint32_t kWindow = 1u << 20;

/// Holds positions and nothing else; every answer goes on for ever with the same letter.
class IdleContext final : public ModelContext {
 public:
  explicit IdleContext(std::size_t vocabulary) : logits_(vocabulary, 0.0f) {
    logits_['x'] = 1;
    able_.sequences = kSequences;
    able_.slots = 4 * kSequences;
    able_.slot_cells = kWindow;
    able_.cells = kSequences * kWindow;
    able_.pooled = able_.can_share_range = able_.can_save_range = true;
    able_.bytes_per_cell = 1;
    held_.resize(able_.slots);
  }
  const KvCapabilities& capabilities() const override { return able_; }
  DecodeStatus decode(std::span<const BatchRow> rows) override {
    for (const BatchRow& row : rows) ++held(row.slot);
    return DecodeStatus::kOk;
  }
  std::span<float> logits(std::size_t) override { return logits_; }
  std::span<const float> embedding(std::size_t) override { return {}; }
  bool remove(SlotId slot, PositionRange range) override {
    held(slot) = std::min(held(slot), range.begin);
    return true;
  }
  bool copy(SlotId, SlotId to, PositionRange range) override {
    held(to) = range.end;
    return true;
  }
  PositionRange positions(SlotId slot) const override {
    return {0, held_[static_cast<std::size_t>(slot.value)]};
  }
  Result<std::vector<std::byte>> save(SlotId) const override { return std::vector<std::byte>(1); }
  Result<void> restore(SlotId, std::span<const std::byte>) override { return {}; }
  Result<std::vector<std::byte>> save_range(SlotId, PositionRange) override {
    return std::vector<std::byte>(1);
  }
  Result<void> restore_range(SlotId slot, PositionRange range,
                             std::span<const std::byte>) override {
    held(slot) = range.end;
    return {};
  }
  std::vector<std::byte> compress(std::span<const std::byte>) const override { return {}; }
  std::uint64_t state_fingerprint() const override { return 0; }
  Result<void> fill(SlotId slot, std::int32_t cells) override {
    held(slot) = cells;
    return {};
  }
  CellScan scan() const override { return {}; }
  void set_threads(std::uint32_t) override {}
  std::uint32_t threads() const override { return 1; }
  void set_abort(AbortPredicate) override {}

 private:
  std::int32_t& held(SlotId slot) { return held_[static_cast<std::size_t>(slot.value)]; }

  KvCapabilities able_;
  std::vector<float> logits_;
  std::vector<std::int32_t> held_;
};

class Bench {
 public:
  explicit Bench(KeepRule keep) : model_(make_fake_model({})) {
    EngineParts parts;
    parts.context = std::make_unique<IdleContext>(model_->tokenizer().table().size());
    parts.tokens = &model_->tokenizer().table();
    parts.clock = &clock_;
    parts.waker = &waker_;
    EngineOptions options;
    options.window = kWindow;
    options.cache.keep = keep;
    loop_ = std::make_unique<EngineLoop>(std::move(parts), std::move(options));
  }
  ~Bench() {
    loop_->stop();
    loop_->fail_all();
  }

  void constrain(std::string_view pattern) {
    auto compiled = std::make_shared<CompiledConstraint>();
    compiled->id = 1;
    compiled->machine = make_regex_machine(pattern).value();
    constraint_ = std::move(compiled);
  }
  void ask(std::uint64_t seed, std::size_t prompt, std::uint32_t max_tokens) {
    Random random(seed);
    EngineRequest request;
    while (request.prompt.size() < prompt) {
      request.prompt.push_back(static_cast<Token>(random.below(256)));
    }
    request.max_tokens = max_tokens;
    request.sampling.temperature = 0;
    request.constraint = constraint_;
    request.stage = std::make_unique<PlainStage>();
    request.stream = loop_->make_stream();
    request.submitted_at = clock_.now();
    streams_.push_back(request.stream);
    ZH_CHECK(loop_->submit(std::move(request)).ok());
  }
  void step() {
    ZH_CHECK(loop_->step());
    clock_.advance(std::chrono::milliseconds(5));
    if (++steps_ % 1024 != 0) return;
    for (const auto& stream : streams_) {
      events_.clear();
      stream->read(events_);
    }
  }
  std::uint64_t tokens() const { return loop_->snapshot().output_tokens; }
  void fill_cache(std::uint64_t prompts) {
    for (std::uint64_t i = 0; i < prompts; ++i) {
      ask(1'000 + i, 100, 1);
      while (loop_->step()) {
      }
      streams_.clear();
    }
  }

 private:
  VirtualClock clock_;
  CountingWaker waker_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<EngineLoop> loop_;
  std::vector<std::shared_ptr<TokenStream>> streams_;
  std::vector<Event> events_;
  std::shared_ptr<const CompiledConstraint> constraint_;
  std::uint64_t steps_ = 0;
};

void measure_steps(benchmark::State& state, Bench& bench) {
  for (std::uint64_t i = 0; i < kSequences; ++i) bench.ask(i, 2'000, kWindow);
  for (int i = 0; i < 200; ++i) bench.step();
  const std::uint64_t before = bench.tokens();
  for (auto _ : state) bench.step();
  ZH_CHECK(bench.tokens() - before == kSequences * static_cast<std::uint64_t>(state.iterations()));
}

// With 24 other prompts in the cache.
void BM_DecodeStep(benchmark::State& state, KeepRule keep) {
  Bench bench(keep);
  bench.fill_cache(24);
  measure_steps(state, bench);
}

void BM_ConstrainedStep(benchmark::State& state) {
  Bench bench(KeepRule::kAll);
  bench.constrain("[a-z]*");
  measure_steps(state, bench);
}

BENCHMARK(BM_ConstrainedStep);
BENCHMARK_CAPTURE(BM_DecodeStep, with_cache, KeepRule::kAll);
BENCHMARK_CAPTURE(BM_DecodeStep, without_cache, KeepRule::kNothing);

}  // namespace
}  // namespace zerohop

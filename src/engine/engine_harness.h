// What engine tests and the simulation drive an EngineLoop with: a fake model on virtual time, a
// plain output stage and a client that remembers what it was told. Test code only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine_loop.h"
#include "engine/engine_test_kit.h"
#include "model/fake_model.h"

namespace zerohop {

/// Shows every token's bytes as they are; stops at the first of `stops` (naively searched).
class PlainStage final : public OutputStage {
 public:
  explicit PlainStage(std::vector<std::string> stops = {}) : stops_(std::move(stops)) {}

  StageVerdict accept(Token, std::string_view bytes, std::vector<Event>& events) override {
    text_ += bytes;
    for (const std::string& stop : stops_) {
      if (text_.ends_with(stop)) return {FinishReason::kStopSequence, stop};
    }
    if (!bytes.empty()) events.push_back(TextDelta{std::string(bytes)});
    return {};
  }
  FinishReason flush(FinishReason reason, std::vector<Event>&) override { return reason; }

 private:
  const std::vector<std::string> stops_;
  std::string text_;
};

/// One request as its client sees it.
struct HarnessClient {
  std::shared_ptr<TokenStream> stream;
  std::vector<Event> events;
  bool done = false;

  void read() {
    if (!done) done = stream->read(events);
  }
  std::string text() const {
    std::string all;
    for (const Event& event : events) {
      if (const auto* delta = std::get_if<TextDelta>(&event)) all += delta->text;
    }
    return all;
  }
  template <class T>
  const T* find() const {
    for (const Event& event : events) {
      if (const auto* found = std::get_if<T>(&event)) return found;
    }
    return nullptr;
  }
};

struct HarnessRequest {
  std::string prompt;
  std::uint32_t max_tokens = 16;
  SamplingParameters sampling{.temperature = 0};
  std::vector<std::string> stops;
  std::unique_ptr<TokenMeter> meter;
  std::optional<std::uint32_t> top_logprobs;
  std::shared_ptr<const CompiledConstraint> constraint;
  std::shared_ptr<const std::vector<SoftRule>> soft_rules;
  std::unique_ptr<OutputStage> stage;  ///< instead of a PlainStage
  std::uint32_t marked_tokens = 0;
  Scheduling scheduling = {};
  CacheWishes cache = {};
  std::size_t stream_bytes = 0;  ///< of its stream; 0: as the engine makes it
  bool read_at_end = false;      ///< TokenStream::wake_at_end()
  bool prompt_shared = false;    ///< EngineRequest::prompt_shared
};

/// A fake model whose answers go on until something else ends them.
inline FakeModelOptions endless_model() {
  FakeModelOptions options;
  options.end_of_turn_chance = 0;
  return options;
}

/// What the model says after `tokens`, one row at a time on a context of its own: the slow and
/// plain way.
inline std::vector<float> plain_logits(const Model& model, TokenSpan tokens) {
  ContextOptions options;
  options.sequences = 1;
  options.window = static_cast<std::uint32_t>(tokens.size());
  const auto context = model.make_context(options).value();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const BatchRow row{tokens[i], static_cast<std::int32_t>(i), SlotId(0), i + 1 == tokens.size()};
    ZH_CHECK(context->decode({&row, 1}) == DecodeStatus::kOk);
  }
  const std::span<float> logits = context->logits(0);
  return {logits.begin(), logits.end()};
}

class CountingWaker final : public StreamWaker {
 public:
  void wake(std::vector<std::shared_ptr<TokenStream>> streams) override {
    ++wakes;
    streams_woken += streams.size();
  }
  std::uint64_t wakes = 0;
  std::uint64_t streams_woken = 0;
};

class EngineHarness {
 public:
  EngineHarness(FakeModelOptions model_options, ContextOptions context_options,
                EngineOptions engine_options = {}) {
    model_options.clock = &clock;
    model = make_fake_model(model_options);
    engine_options.window = context_options.window;
    engine_options.batch_rows = context_options.batch_rows;
    engine_options.logit_rows = context_options.logit_rows;
    engine_options.on_step = [this](const StepReport& report) { steps.push_back(report); };
    engine_options.on_compaction = [this](const CompactionReport& report) {
      slices.push_back(report);
    };
    EngineParts parts;
    parts.context = std::move(model->make_context(context_options)).value();
    parts.tokens = &model->tokenizer().table();
    parts.clock = &clock;
    parts.waker = &waker;
    parts.tokenize = [this](std::string_view text) {
      return model->tokenizer().tokenize(text, SpecialTokens::kInert);
    };
    const ContextOptions embedding = embedding_context_options(context_options.window, 1);
    parts.embedding = {[this, embedding] { return model->make_context(embedding); },
                       model_options.pooling, embedding.window, embedding.batch_rows};
    loop = std::make_unique<EngineLoop>(std::move(parts), std::move(engine_options));
  }
  ~EngineHarness() {
    loop->stop();
    loop->fail_all();
  }

  /// Submits; the client's `done` is false and it has no events when the engine refused.
  std::shared_ptr<HarnessClient> submit(HarnessRequest request) {
    auto client = std::make_shared<HarnessClient>();
    last_submit = loop->submit(make_request(std::move(request), *client));
    return client;
  }

  /// The same for the answers of one request.
  std::vector<std::shared_ptr<HarnessClient>> submit_all(std::vector<HarnessRequest> answers) {
    std::vector<std::shared_ptr<HarnessClient>> clients;
    std::vector<EngineRequest> requests;
    for (HarnessRequest& answer : answers) {
      clients.push_back(std::make_shared<HarnessClient>());
      requests.push_back(make_request(std::move(answer), *clients.back()));
    }
    last_submit = loop->submit_all(std::move(requests));
    return clients;
  }

  /// What submit() gives to the engine.
  EngineRequest make_request(HarnessRequest request, HarnessClient& client) {
    client.stream = loop->make_stream();
    if (request.stream_bytes > 0) {
      client.stream = std::make_shared<TokenStream>([this] { loop->ring(); }, request.stream_bytes);
    }
    if (request.read_at_end) client.stream->wake_at_end(clock);
    EngineRequest engine_request;
    engine_request.prompt = model->tokenizer().tokenize(request.prompt, SpecialTokens::kParse);
    engine_request.max_tokens = request.max_tokens;
    engine_request.sampling = std::move(request.sampling);
    engine_request.marked_tokens = request.marked_tokens;
    engine_request.scheduling = request.scheduling;
    engine_request.cache = request.cache;
    engine_request.top_logprobs = request.top_logprobs;
    engine_request.constraint = std::move(request.constraint);
    engine_request.soft_rules = std::move(request.soft_rules);
    engine_request.stage = std::move(request.stage);
    if (engine_request.stage == nullptr) {
      engine_request.stage = std::make_unique<PlainStage>(std::move(request.stops));
    }
    engine_request.meter = std::move(request.meter);
    engine_request.prompt_shared = request.prompt_shared;
    engine_request.stream = client.stream;
    engine_request.submitted_at = clock.now();
    return engine_request;
  }

  /// One step, after which the books balance.
  bool step() {
    const bool stepped = loop->step();
    loop->check_integrity();
    return stepped;
  }
  /// Steps until nothing is left to compute.
  void run() {
    while (step()) {
    }
  }

  std::shared_ptr<HarnessClient> complete(HarnessRequest request) {
    auto client = submit(std::move(request));
    run();
    client->read();
    return client;
  }

  VirtualClock clock;
  std::unique_ptr<Model> model;
  CountingWaker waker;
  std::vector<StepReport> steps;
  std::vector<CompactionReport> slices;
  std::unique_ptr<EngineLoop> loop;
  Result<void> last_submit;
};

inline ContextOptions harness_context(KvLayout layout = KvLayout::kUnified) {
  ContextOptions options;
  options.sequences = 4;
  options.window = 256;
  options.batch_rows = 64;
  options.logit_rows = 16;
  options.layout = layout;
  return options;
}

}  // namespace zerohop

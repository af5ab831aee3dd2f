// What a constraint costs a token of the default model's answers: time of a whole answer by its
// tokens, free and constrained, for one stream and for eight. And what the first request with a
// constraint waits for: the trie of the vocabulary.
//
// items_per_second are tokens of answers; the ratio of two lines is the quotient that is promised
// (at most 1.0 constrained by free, 0.8 with much forced text). Every answer is looked at: one that
// was refused, failed, or is no legal text ends the program.

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "constrain/json_machine.h"
#include "constrain/schema_compiler.h"
#include "constrain/tag_machine.h"
#include "engine/engine_harness.h"
#include "model/llama_model.h"

namespace zerohop {
namespace {

constexpr const char* kPrompt =
    "<|im_start|>user\nWrite about the town of Bergen: its name, its country, how many people live "
    "there, what it is known for, and whether it has a harbour.<|im_end|>\n"
    "<|im_start|>assistant\n";

// The shortest tool call takes 97.
constexpr std::uint32_t kTokensMax = 160;
// Answers that each sequence computes: they differ in length, and a step of few rows costs more for
// each of them, so that the others' ends would count against those that are no longer there.
constexpr std::uint32_t kRounds = 4;

constexpr const char* kTown = R"({
  "type": "object",
  "properties": {
    "name": {"type": "string", "minLength": 3, "maxLength": 40},
    "country": {"type": "string", "minLength": 3, "maxLength": 40},
    "inhabitants": {"type": "integer", "minimum": 1, "maximum": 90000000},
    "known_for": {"type": "array", "items": {"type": "string", "minLength": 20, "maxLength": 90},
                  "minItems": 3, "maxItems": 5},
    "harbour": {"type": "boolean"}
  },
  "required": ["name", "country", "inhabitants", "known_for", "harbour"],
  "additionalProperties": false
})";

constexpr const char* kBooking = R"({
  "type": "object",
  "properties": {
    "departure_airport_code": {"type": "string", "pattern": "^[A-Z]{3}$"},
    "destination_airport_code": {"type": "string", "pattern": "^[A-Z]{3}$"},
    "departure_date": {"type": "string", "format": "date"},
    "number_of_passengers": {"type": "integer", "minimum": 1, "maximum": 9},
    "travel_class": {"enum": ["economy", "premium_economy", "business", "first"]},
    "only_direct_flights": {"type": "boolean"}
  },
  "required": ["departure_airport_code", "destination_airport_code", "departure_date",
               "number_of_passengers", "travel_class", "only_direct_flights"],
  "additionalProperties": false
})";

const Model* default_model() {
  static const auto loaded = [] {
    const char* home = std::getenv("HOME");
    LlamaModelOptions options;
    options.path =
        std::string(home == nullptr ? "" : home) + "/.local/share/zerohop/models/smollm2-135m.gguf";
    return load_llama_model(options);
  }();
  return loaded.ok() ? loaded->get() : nullptr;
}

std::shared_ptr<const ConstraintMachine> schema_machine(std::string_view schema,
                                                        JsonMachineOptions::WhiteSpace space) {
  SchemaOptions options;
  options.integers = SchemaOptions::Integers::kDigitsAlone;
  const CompiledSchema compiled = compile_schema(schema, options);
  JsonMachineOptions machine;
  machine.white_space = space;
  return make_json_machine(std::get<std::shared_ptr<const SchemaForm>>(compiled), machine);
}

std::shared_ptr<const ConstraintMachine> free_text() { return nullptr; }
std::shared_ptr<const ConstraintMachine> document() {
  return schema_machine(kTown, JsonMachineOptions::WhiteSpace::kFree);
}
std::shared_ptr<const ConstraintMachine> tool_call() {
  TagSet set;
  set.text = TagSet::Text::kNone;
  set.calls_min = set.calls_max = 1;
  set.rules.push_back(
      {"<tool_call>\n",
       {literal_part("{\"name\": \"book_flight\", \"arguments\": "),
        machine_part(schema_machine(kBooking, JsonMachineOptions::WhiteSpace::kSpaced)),
        literal_part("}\n</tool_call>")}});
  return make_tag_machine(std::move(set)).value();
}

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "engine_constraint_bench: %s\n", what.c_str());
  std::abort();
}

class Answers {
 public:
  Answers(const Model& model, std::uint32_t sequences,
          std::shared_ptr<const ConstraintMachine> machine)
      : model_(model), clients_(kRounds * sequences) {
    ContextOptions context;
    context.sequences = sequences;
    context.window = 512;
    context.threads = 2;
    EngineParts parts;
    parts.context = model.make_context(context).value();
    parts.tokens = &model.tokenizer().table();
    parts.clock = &clock_;
    parts.waker = &waker_;
    parts.tokenize = [&model](std::string_view text) {
      return model.tokenizer().tokenize(text, SpecialTokens::kInert);
    };
    EngineOptions options;
    options.window = parts.context->capabilities().slot_cells;
    loop_ = std::make_unique<EngineLoop>(std::move(parts), std::move(options));
    if (!machine) return;
    check_ = machine->renew();
    auto compiled = std::make_shared<CompiledConstraint>();
    compiled->id = 1;
    compiled->machine = std::move(machine);
    constraint_ = std::move(compiled);
  }
  ~Answers() {
    loop_->stop();
    loop_->fail_all();
  }

  /// Answers, as many at the same time as there are sequences. Returns their tokens.
  std::uint64_t run() {
    for (HarnessClient& client : clients_) ask(client);
    while (loop_->step()) {
    }
    std::uint64_t tokens = 0;
    for (HarnessClient& client : clients_) tokens += tokens_of(client);
    return tokens;
  }
  ConstraintCounts counts() const { return loop_->snapshot().constraints; }

 private:
  void ask(HarnessClient& client) {
    EngineRequest request;
    request.prompt = model_.tokenizer().tokenize(kPrompt, SpecialTokens::kParse);
    request.max_tokens = kTokensMax;
    request.sampling.temperature = 0.7f;
    request.sampling.seed = ++seed_;
    request.constraint = constraint_;
    request.stage = std::make_unique<PlainStage>();
    client = HarnessClient{.stream = loop_->make_stream(), .events = {}};
    request.stream = client.stream;
    if (const auto taken = loop_->submit(std::move(request)); !taken.ok()) {
      give_up("refused: " + taken.error().message);
    }
  }

  std::uint32_t tokens_of(HarnessClient& client) {
    client.read();
    if (const auto* failed = client.find<Failed>()) give_up("failed: " + failed->error.message);
    const auto* end = client.find<Finished>();
    if (end == nullptr) give_up("an answer without an end");
    if (end->usage.output_tokens == 0) give_up("an answer without a token");
    if (end->reason != FinishReason::kEndOfTurn && end->reason != FinishReason::kMaxTokens) {
      give_up("ended by " + std::string(finish_reason_name(end->reason)));
    }
    if (check_ && !accepts(*check_, client.text())) give_up("no legal text: " + client.text());
    return end->usage.output_tokens;
  }

  SteadyClock clock_;
  CountingWaker waker_;
  const Model& model_;
  std::vector<HarnessClient> clients_;
  std::shared_ptr<const CompiledConstraint> constraint_;
  std::unique_ptr<ConstraintMachine> check_;  // of the texts
  std::unique_ptr<EngineLoop> loop_;
  std::uint64_t seed_ = 0;
};

void BM_Answer(benchmark::State& state, std::shared_ptr<const ConstraintMachine> (*machine)()) {
  const Model* model = default_model();
  if (model == nullptr) {
    state.SkipWithError("the default model is not here");
    return;
  }
  Answers answers(*model, static_cast<std::uint32_t>(state.range(0)), machine());
  answers.run();  // the prompt is in the cache now
  std::uint64_t tokens = 0;
  for (auto _ : state) tokens += answers.run();
  const ConstraintCounts counts = answers.counts();
  state.SetItemsProcessed(static_cast<std::int64_t>(tokens));
  if (counts.checks == 0) return;
  const auto checks = static_cast<double>(counts.checks);
  const auto forced = static_cast<double>(counts.forced_tokens);
  state.counters["forced"] = forced / (forced + checks);
  state.counters["missed"] = static_cast<double>(counts.misses) / checks;
  state.counters["mask_us"] = to_seconds(counts.mask_time) * 1e6 /
                              static_cast<double>(std::max<std::uint64_t>(1, counts.masks_built));
}

BENCHMARK_CAPTURE(BM_Answer, free, &free_text)->Arg(1)->Arg(8)->UseRealTime();
BENCHMARK_CAPTURE(BM_Answer, document, &document)->Arg(1)->Arg(8)->UseRealTime();
BENCHMARK_CAPTURE(BM_Answer, tool_call, &tool_call)->Arg(1)->Arg(8)->UseRealTime();

void BM_PrepareVocabulary(benchmark::State& state) {
  const Model* model = default_model();
  if (model == nullptr) {
    state.SkipWithError("the default model is not here");
    return;
  }
  const VirtualClock clock;
  for (auto _ : state) {
    Constraints constraints({&model->tokenizer().table(), &clock, {}}, {});
    ZH_CHECK(constraints.prepare().ok());
  }
}

BENCHMARK(BM_PrepareVocabulary)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace zerohop

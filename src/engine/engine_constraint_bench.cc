// What a constraint costs a token of the default model's answers, beside free answers of the same
// engine. And what the first request with a constraint waits for: the trie of the vocabulary.
//
// An iteration answers the same requests three times: constrained; free, each with as many tokens
// as its constrained twin had (its end tokens are biased away); free, to their own ends. What
// differs in the first two is the constraint alone. Answers of other lengths leave steps with fewer
// rows at their ends, and those rows cost more each, so the third is no fair twin; it is printed
// because it is what clients see.
//
//   free_us, same_us, constrained_us    of one thread's processor time a token
//   raw_ratio     constrained_us / free_us
//   ratio         constrained_us / same_us: the quotient that is promised (at most 1.0, with much
//                 forced text 0.8)
//   decode_ratio  the same of the time inside of the model alone: what is beyond it is masks,
//                 sampling and the books
//   steps_ratio   constrained steps / free ones: forced text shares a step
//   outside_us    what a constrained token takes beside the model
//
// Every answer is looked at: one that was refused, failed, or is no legal text ends the program.

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

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
// Answers that each sequence computes.
constexpr std::uint32_t kRounds = 2;

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

using Machine = std::shared_ptr<const ConstraintMachine>;

Machine schema_machine(std::string_view schema, JsonMachineOptions::WhiteSpace space) {
  SchemaOptions options;
  options.integers = SchemaOptions::Integers::kDigitsAlone;
  const CompiledSchema compiled = compile_schema(schema, options);
  JsonMachineOptions machine;
  machine.white_space = space;
  return make_json_machine(std::get<std::shared_ptr<const SchemaForm>>(compiled), machine);
}

Machine document() { return schema_machine(kTown, JsonMachineOptions::WhiteSpace::kFree); }
Machine tool_call() {
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

// Processor time of this thread, which computes alone here: what others do on the machine meanwhile
// is not in it.
class ProcessorClock final : public Clock {
 public:
  TimePoint now() const override {
    rusage used{};
    getrusage(RUSAGE_THREAD, &used);
    const auto both = [](long user, long system) { return user + system; };
    return TimePoint(std::chrono::seconds(both(used.ru_utime.tv_sec, used.ru_stime.tv_sec)) +
                     std::chrono::microseconds(both(used.ru_utime.tv_usec, used.ru_stime.tv_usec)));
  }
  WallTime wall() const override { return {}; }
};

// What all answers of a run took.
struct Cost {
  std::vector<std::uint32_t> lengths;  // of each, in tokens
  std::uint64_t tokens = 0;
  std::uint64_t steps = 0;
  std::uint64_t rows = 0;
  Duration all{};
  Duration decode{};

  void add(const Cost& other) {
    tokens += other.tokens;
    steps += other.steps;
    rows += other.rows;
    all += other.all;
    decode += other.decode;
  }
  double token_us() const { return to_seconds(all) * 1e6 / static_cast<double>(tokens); }
  double decode_us() const { return to_seconds(decode) * 1e6 / static_cast<double>(tokens); }
};

class Answers {
 public:
  Answers(const Model& model, std::uint32_t sequences, Machine machine, std::uint32_t forced_tokens)
      : model_(model), clients_(kRounds * sequences), check_(machine->renew()) {
    ContextOptions context;
    context.sequences = sequences;
    context.window = 512;
    context.threads = 1;
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
    options.forced_tokens = forced_tokens;
    options.on_step = [this](const StepReport& report) {
      ++cost_.steps;
      cost_.rows += report.rows;
      cost_.decode += report.duration;
    };
    loop_ = std::make_unique<EngineLoop>(std::move(parts), std::move(options));
    auto compiled = std::make_shared<CompiledConstraint>();
    compiled->id = 1;
    compiled->machine = std::move(machine);
    constraint_ = std::move(compiled);
    for (std::size_t i = 0; i < model.tokenizer().table().size(); ++i) {
      const auto token = static_cast<Token>(i);
      if (model.tokenizer().table().is_end_of_generation(token)) endless_.push_back({token, -1e4f});
    }
  }
  ~Answers() {
    loop_->stop();
    loop_->fail_all();
  }

  /// Answers, as many at the same time as there are sequences.
  Cost run_constrained() { return run({}, constraint_); }
  /// The same without a constraint: to their own ends, or with so many tokens each.
  Cost run_free(const std::vector<std::uint32_t>& lengths) { return run(lengths, nullptr); }

  ConstraintCounts counts() const { return loop_->snapshot().constraints; }

 private:
  Cost run(const std::vector<std::uint32_t>& lengths,
           const std::shared_ptr<const CompiledConstraint>& constraint) {
    cost_ = {};
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      ask(clients_[i], lengths.empty() ? 0 : lengths[i], constraint);
    }
    const TimePoint begin = clock_.now();
    while (loop_->step()) {
    }
    cost_.all = clock_.now() - begin;
    for (HarnessClient& client : clients_) {
      cost_.lengths.push_back(tokens_of(client, constraint != nullptr));
      cost_.tokens += cost_.lengths.back();
    }
    return std::move(cost_);
  }

  // `length` 0: to its own end.
  void ask(HarnessClient& client, std::uint32_t length,
           const std::shared_ptr<const CompiledConstraint>& constraint) {
    EngineRequest request;
    request.prompt = model_.tokenizer().tokenize(kPrompt, SpecialTokens::kParse);
    request.max_tokens = length > 0 ? length : kTokensMax;
    request.sampling.temperature = 0.7f;
    request.sampling.seed = ++seed_;
    if (length > 0) request.sampling.logit_bias = endless_;
    request.constraint = constraint;
    request.stage = std::make_unique<PlainStage>();
    client = HarnessClient{.stream = loop_->make_stream(), .events = {}};
    request.stream = client.stream;
    if (const auto taken = loop_->submit(std::move(request)); !taken.ok()) {
      give_up("refused: " + taken.error().message);
    }
  }

  std::uint32_t tokens_of(HarnessClient& client, bool constrained) {
    client.read();
    if (const auto* failed = client.find<Failed>()) give_up("failed: " + failed->error.message);
    const auto* end = client.find<Finished>();
    if (end == nullptr) give_up("an answer without an end");
    if (end->usage.output_tokens == 0) give_up("an answer without a token");
    if (end->reason != FinishReason::kEndOfTurn && end->reason != FinishReason::kMaxTokens) {
      give_up("ended by " + std::string(finish_reason_name(end->reason)));
    }
    if (constrained && !accepts(*check_, client.text())) give_up("no legal text: " + client.text());
    return end->usage.output_tokens;
  }

  ProcessorClock clock_;
  CountingWaker waker_;
  const Model& model_;
  std::vector<HarnessClient> clients_;
  std::shared_ptr<const CompiledConstraint> constraint_;
  std::unique_ptr<ConstraintMachine> check_;  // of the texts
  std::vector<LogitBias> endless_;            // forbids the end tokens
  std::unique_ptr<EngineLoop> loop_;
  std::uint64_t seed_ = 0;
  Cost cost_;  // of the run so far
};

void show_counts(benchmark::State& state, const ConstraintCounts& counts) {
  const auto checks = static_cast<double>(counts.checks);
  const auto forced = static_cast<double>(counts.forced_tokens);
  state.counters["forced"] = forced / (forced + checks);
  state.counters["missed"] = static_cast<double>(counts.misses) / checks;
  state.counters["mask_us"] = to_seconds(counts.mask_time) * 1e6 /
                              static_cast<double>(std::max<std::uint64_t>(1, counts.masks_built));
}

void BM_Answer(benchmark::State& state, Machine (*machine)(), std::uint32_t forced_tokens) {
  const Model* model = default_model();
  if (model == nullptr) {
    state.SkipWithError("the default model is not here");
    return;
  }
  const auto sequences = static_cast<std::uint32_t>(state.range(0));
  Answers answers(*model, sequences, machine(), forced_tokens);
  answers.run_constrained();  // the prompt is in the cache now
  Cost constrained;
  Cost same;
  Cost free;
  for (auto _ : state) {
    const Cost one = answers.run_constrained();
    constrained.add(one);
    same.add(answers.run_free(one.lengths));
    free.add(answers.run_free({}));
  }
  state.SetItemsProcessed(
      static_cast<std::int64_t>(constrained.tokens + same.tokens + free.tokens));
  state.counters["constrained_us"] = constrained.token_us();
  state.counters["same_us"] = same.token_us();
  state.counters["free_us"] = free.token_us();
  state.counters["ratio"] = constrained.token_us() / same.token_us();
  state.counters["raw_ratio"] = constrained.token_us() / free.token_us();
  state.counters["decode_ratio"] = constrained.decode_us() / same.decode_us();
  state.counters["steps_ratio"] =
      static_cast<double>(constrained.steps) / static_cast<double>(same.steps);
  state.counters["outside_us"] = constrained.token_us() - constrained.decode_us();
  state.counters["same_outside_us"] = same.token_us() - same.decode_us();
  show_counts(state, answers.counts());
}

constexpr std::uint32_t kForced = limits::kForcedTokensMax;
BENCHMARK_CAPTURE(BM_Answer, document, &document, kForced)->Arg(1)->Arg(8)->Iterations(1);
BENCHMARK_CAPTURE(BM_Answer, tool_call, &tool_call, kForced)->Arg(1)->Arg(8)->Iterations(1);
// Each token sampled, whether or not there is a choice: what masks and checks cost by themselves.
BENCHMARK_CAPTURE(BM_Answer, document_sampled, &document, 0u)->Arg(1)->Arg(8)->Iterations(1);

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

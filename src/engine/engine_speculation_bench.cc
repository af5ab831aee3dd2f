// What drafts from an answer's own text gain (engine_draft.cc), on the default model as it is
// shipped and as Q8_0, two threads, wall time.
//
//   BM_Rows       a step of k rows of one sequence with the logits of all, beside a step of one:
//                 what a draft of k − 1 tokens costs. rel_k = time / time of one row
//   BM_Answers    the same prompts answered by two engines in turns, one drafts where it pays
//                 (Speculation::kAuto) and one never does. ratio = tokens a second with drafts over
//                 without, while answers are written: the median of all rounds; low and high: the
//                 quartiles
//
//     copy        an answer that quotes its prompt: text to be repeated with a change, quotes to be
//                 found, JSON to be echoed; temperature 0
//     open        free text at temperature 1
//     /n          so many answers at once
//
// Every answer of a round is asked in both engines right after each other, so that what else the
// machine does falls on both. `same` is the share of answers at temperature 0 that were the same to
// the byte: logits depend on the rows of a step in their last digits, so not all are.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/engine_harness.h"
#include "model/default_model_path.h"
#include "model/llama_model.h"
#include "model/prepare_convert.h"
#include "model/prepare_text.h"

namespace zerohop {
namespace {

constexpr std::uint32_t kThreads = 2;
constexpr std::uint32_t kTokensMax = 160;
constexpr std::uint32_t kWindow = 1024;

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "engine_speculation_bench: %s\n", what.c_str());
  std::abort();
}

std::unique_ptr<Model> load(const std::string& path) {
  LlamaModelOptions options;
  options.path = path;
  auto loaded = load_llama_model(options);
  if (!loaded.ok()) give_up(loaded.error().message);
  return std::move(loaded).value();
}

const Model& shipped() {
  static const std::unique_ptr<Model> model = load(default_model_path());
  return *model;
}

// As a server prepares it on most machines.
const Model& converted() {
  static const std::unique_ptr<Model> model = [] {
    const std::string path =
        std::filesystem::temp_directory_path() / "zh_engine_speculation_bench.gguf";
    const Conversion conversion{default_model_path(), path, WeightType::kQ8_0, kThreads, {}};
    if (const auto done = convert_weights(conversion); !done.ok()) give_up(done.error().message);
    auto made = load(path);
    std::filesystem::remove(path);  // mapped: it stays until the model goes
    return made;
  }();
  return *model;
}

double median(std::vector<double> values, double at = 0.5) {
  if (values.empty()) give_up("nothing was measured");
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(at * static_cast<double>(values.size() - 1))];
}

// ---- rows ----

void BM_Rows(benchmark::State& state, const Model& (*model)()) {
  constexpr std::int32_t kCells = 256;
  constexpr std::size_t kSizes[] = {1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 24, 32};
  ContextOptions options;
  options.sequences = 1;
  options.window = kWindow;
  options.logit_rows = 32;
  options.threads = kThreads;
  const auto context = model().make_context(options).value();
  if (!context->fill(SlotId(0), kCells).ok()) give_up("no cells");
  const SteadyClock clock;
  std::vector<std::vector<double>> seconds(std::size(kSizes));
  for (auto _ : state) {
    for (std::size_t i = 0; i < std::size(kSizes); ++i) {
      std::vector<BatchRow> rows;
      for (std::size_t k = 0; k < kSizes[i]; ++k) {
        rows.push_back(
            {static_cast<Token>(100 + k), kCells + static_cast<std::int32_t>(k), SlotId(0), true});
      }
      const TimePoint begin = clock.now();
      if (context->decode(rows) != DecodeStatus::kOk) give_up("a step failed");
      seconds[i].push_back(to_seconds(clock.now() - begin));
      context->remove(SlotId(0), {kCells, kCells + 64});
    }
  }
  const double one = median(seconds[0]);
  state.counters["one_ms"] = one * 1e3;
  for (std::size_t i = 1; i < std::size(kSizes); ++i) {
    state.counters["rel_" + std::to_string(kSizes[i])] = median(seconds[i]) / one;
  }
}

BENCHMARK_CAPTURE(BM_Rows, q4_1, &shipped)->Iterations(30)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Rows, q8_0, &converted)->Iterations(30)->Unit(benchmark::kMillisecond);

// ---- answers ----

std::string asked(const std::string& question) {
  return "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\n" +
         question + "<|im_end|>\n<|im_start|>assistant\n";
}

const std::string kCode =
    "def read_numbers(path):\n    numbers = []\n    with open(path) as lines:\n        for line in "
    "lines:\n            line = line.strip()\n            if not line:\n                continue\n"
    "            numbers.append(float(line))\n    return numbers\n\n\ndef mean_of_numbers(path):\n"
    "    numbers = read_numbers(path)\n    if not numbers:\n        return 0.0\n    return "
    "sum(numbers) / len(numbers)\n";
const std::string kRecords =
    R"([{"id": 4711, "name": "Harbour office", "city": "Bergen", "open": true, "seats": 12},)"
    "\n"
    R"( {"id": 4712, "name": "Hill station", "city": "Voss", "open": false, "seats": 40},)"
    "\n"
    R"( {"id": 4713, "name": "Old customs house", "city": "Trondheim", "open": true, "seats": 7}])";
const std::string kLetter =
    "Dear Ms Halvorsen,\n\nthank you for your letter of 3 March about the repair of the heating in "
    "the flat at Strandgaten 14. The technician was there on 7 March and replaced the pump. He "
    "found that the valve in the kitchen leaks as well and will come back on 21 March to replace "
    "it. Please make sure that somebody is at home between eight and eleven o'clock. The costs "
    "are borne by the owner.\n\nWith kind regards,\nErik Solberg";

std::vector<std::string> copying_prompts() {
  const std::string text(preparation_text());
  const std::string first = text.substr(0, text.find("\n\n"));
  const std::string rest = text.substr(first.size() + 2);
  const std::string second = rest.substr(0, rest.find("\n\n"));
  return {
      asked("Repeat this text word for word:\n\n" + first),
      asked("Repeat this text word for word, but write \"model file\" for \"weights\":\n\n" +
            second),
      asked("Write this program again and rename read_numbers to load_numbers:\n\n" + kCode),
      asked("Print this JSON again without any change:\n\n" + kRecords),
      asked("Print this letter again, but with the date 22 March for 21 March:\n\n" + kLetter),
      asked("Here is a text:\n\n" + first +
            "\n\nQuote each of its sentences, one after the other, in quotation marks."),
  };
}

std::vector<std::string> open_prompts() {
  return {asked("Tell me a story about a lighthouse and the people who live there."),
          asked("What should I see in Lisbon in three days?"),
          asked("Explain how bread is made, for a child of ten."),
          asked("Write a poem about the first day of winter."),
          asked("Which habits help to learn a language, and why?"),
          asked("Describe an invention that does not exist yet.")};
}

struct Answer {
  std::string text;
  std::uint32_t tokens = 0;
};

class Side {
 public:
  Side(const Model& model, std::uint32_t sequences, Speculation mode) : model_(model) {
    ContextOptions context;
    context.sequences = sequences;
    context.window = kWindow;
    context.cells = 16 * kWindow;
    context.threads = kThreads;
    EngineParts parts;
    parts.context = model.make_context(context).value();
    parts.tokens = &model.tokenizer().table();
    parts.clock = &clock_;
    parts.waker = &waker_;
    EngineOptions options;
    options.window = parts.context->capabilities().slot_cells;
    options.speculation.mode = mode;
    options.adaptive_threads = false;  // both sides are to compute with the same number
    loop_ = std::make_unique<EngineLoop>(std::move(parts), std::move(options));
  }
  ~Side() {
    loop_->stop();
    loop_->fail_all();
  }

  /// Answers to all of `prompts` at the same time, and adds what they took from the step on in
  /// which the last of them began.
  std::vector<Answer> answer(std::span<const std::string> prompts,
                             const SamplingParameters& sampling) {
    std::vector<HarnessClient> clients(prompts.size());
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      EngineRequest request;
      request.prompt = model_.tokenizer().tokenize(prompts[i], SpecialTokens::kParse);
      request.max_tokens = kTokensMax;
      request.sampling = sampling;
      request.sampling.seed = sampling.seed.value_or(0) + i;
      request.stage = std::make_unique<PlainStage>();
      request.stream = clients[i].stream = loop_->make_stream();
      request.submitted_at = clock_.now();
      if (!loop_->submit(std::move(request)).ok()) give_up("a request was refused");
    }
    std::uint64_t before = 0;
    TimePoint begin{};
    bool began = false;
    bool over = false;
    while (!over) {
      over = !loop_->step();
      const EngineSnapshot state = loop_->snapshot();
      if (!began && state.prefilling == 0 && state.queued == 0) {
        began = true;
        before = state.output_tokens;
        begin = clock_.now();
      }
    }
    tokens_ += static_cast<double>(loop_->snapshot().output_tokens - before);
    seconds_ += to_seconds(clock_.now() - begin);
    std::vector<Answer> answers;
    for (HarnessClient& client : clients) {
      client.read();
      const auto* finished = client.find<Finished>();
      if (finished == nullptr) give_up("no answer");
      answers.push_back({client.text(), finished->usage.output_tokens});
    }
    return answers;
  }

  /// Tokens a second since the last call.
  double rate() {
    const double rate = tokens_ / seconds_;
    tokens_ = seconds_ = 0;
    return rate;
  }
  DraftCounts drafts() const { return loop_->snapshot().drafts; }

 private:
  const Model& model_;
  const SteadyClock clock_;
  CountingWaker waker_;
  std::unique_ptr<EngineLoop> loop_;
  double tokens_ = 0;
  double seconds_ = 0;
};

// All prompts once on both sides, by turns in either order. Of the answers, how many were the same.
std::size_t round(Side& off, Side& on, std::span<const std::string> prompts,
                  const SamplingParameters& sampling, std::size_t at_once) {
  std::size_t same = 0;
  for (std::size_t i = 0; i < prompts.size(); i += at_once) {
    std::vector<std::string> batch;
    for (std::size_t k = 0; k < at_once; ++k) batch.push_back(prompts[(i + k) % prompts.size()]);
    std::vector<Answer> answers[2];
    for (const std::size_t turn : {0u, 1u}) {
      const bool drafts = (turn + i / at_once + sampling.seed.value_or(0)) % 2 == 0;
      answers[drafts] = (drafts ? on : off).answer(batch, sampling);
    }
    for (std::size_t k = 0; k < at_once; ++k) same += answers[0][k].text == answers[1][k].text;
  }
  return same;
}

void BM_Answers(benchmark::State& state, const Model& (*model)(), bool copy) {
  const auto at_once = static_cast<std::uint32_t>(state.range(0));
  Side off(model(), at_once, Speculation::kOff);
  Side on(model(), at_once, Speculation::kAuto);
  const std::vector<std::string> prompts = copy ? copying_prompts() : open_prompts();
  SamplingParameters sampling;
  sampling.temperature = copy ? 0.0f : 1.0f;
  sampling.seed = 0;
  round(off, on, prompts, sampling, at_once);  // prompts are cached from here on
  off.rate();
  on.rate();
  const DraftCounts before = on.drafts();
  std::vector<double> ratios;
  double rate_off = 0;
  double rate_on = 0;
  std::size_t same = 0;
  std::size_t asked_in_all = 0;
  for (auto _ : state) {
    *sampling.seed += 100;
    same += round(off, on, prompts, sampling, at_once);
    asked_in_all += (prompts.size() + at_once - 1) / at_once * at_once;
    rate_off = off.rate();
    rate_on = on.rate();
    ratios.push_back(rate_on / rate_off);
  }
  const DraftCounts after = on.drafts();
  const auto drafted = static_cast<double>(after.drafted - before.drafted);
  state.counters["ratio"] = median(ratios);
  state.counters["low"] = median(ratios, 0.25);
  state.counters["high"] = median(ratios, 0.75);
  state.counters["off_tok_s"] = rate_off;
  state.counters["on_tok_s"] = rate_on;
  state.counters["drafted"] = drafted;
  state.counters["accepted"] =
      drafted > 0 ? static_cast<double>(after.accepted - before.accepted) / drafted : 0;
  if (copy) {
    state.counters["same"] = static_cast<double>(same) / static_cast<double>(asked_in_all);
  }
}

#define ZH_ANSWERS(name, model, copy) \
  BENCHMARK_CAPTURE(BM_Answers, name, model, copy)->Iterations(7)->Unit(benchmark::kSecond)
ZH_ANSWERS(copy_q8_0, &converted, true)->Arg(1)->Arg(2)->Arg(4)->Arg(8);
ZH_ANSWERS(open_q8_0, &converted, false)->Arg(1)->Arg(2)->Arg(4)->Arg(8);
ZH_ANSWERS(copy_q4_1, &shipped, true)->Arg(1)->Arg(8);
ZH_ANSWERS(open_q4_1, &shipped, false)->Arg(1)->Arg(8);

}  // namespace
}  // namespace zerohop

// What the prompt stage costs with the vocabulary and the template of the default model: a
// conversation of 20 turns and 6,000 tokens that comes again with one turn more, and fresh text
// against the bare tokenizer.

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "model/default_model_path.h"
#include "model/llama_model.h"
#include "prompt/prompt_stage.h"

namespace zerohop {
namespace {

// Null, with the benchmark skipped, when there is no such file.
const Model* load(benchmark::State& state) {
  static const Result<std::unique_ptr<Model>> model = [] {
    LlamaModelOptions options;
    options.path = default_model_path();
    options.load = LlamaLoad::kTokenizerOnly;
    return load_llama_model(options);
  }();
  if (model.ok()) return model->get();
  state.SkipWithError(model.error().message.c_str());
  return nullptr;
}

std::string words(Random& random, std::size_t count) {
  static const std::vector<std::string> vocabulary{
      "the",    "weather", "in",   "Rome",  "is",     "a",    "question", "about", "numbers",
      "server", "answer",  "when", "model", "writes", "text", "that",     "we",    "read"};
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += i % 12 == 0 ? ". " : " ";
    text += vocabulary[random.below(vocabulary.size())];
  }
  return text;
}

void add_turns(Conversation& conversation, Random& random, int count) {
  for (int i = 0; i < count; ++i) {
    const bool asks =
        conversation.messages.empty() || conversation.messages.back().role == Role::kAssistant;
    conversation.messages.push_back(
        {asks ? Role::kUser : Role::kAssistant, {TextBlock{words(random, 138)}}});
  }
}

// 20 questions and 19 answers of 150 tokens each.
Conversation long_conversation(Random& random) {
  Conversation conversation{{{words(random, 100)}}, {}};
  add_turns(conversation, random, 39);
  return conversation;
}

// Another answer and question in every round, behind the same 6,000 tokens.
void BM_SeenPrefixAndANewTurn(benchmark::State& state) {
  const Model* model = load(state);
  if (model == nullptr) return;
  const PromptStage stage(*model);
  Random random(1);
  Conversation conversation = long_conversation(random);
  const auto seen = stage.prepare(conversation);
  std::size_t tokens = 0;
  for (auto _ : state) {
    state.PauseTiming();
    conversation.messages.resize(39);
    add_turns(conversation, random, 2);
    state.ResumeTiming();
    tokens = stage.prepare(conversation)->tokens.size();
  }
  state.counters["tokens_seen"] = static_cast<double>(seen->tokens.size());
  state.counters["tokens"] = static_cast<double>(tokens);
}

void BM_SeenPrefixAgain(benchmark::State& state) {
  const Model* model = load(state);
  if (model == nullptr) return;
  const PromptStage stage(*model);
  Random random(2);
  const Conversation conversation = long_conversation(random);
  for (auto _ : state) benchmark::DoNotOptimize(stage.prepare(conversation));
}

// The same with tools as text, a call and a result in every pair of turns.
void BM_SeenAgentPrefixAndANewTurn(benchmark::State& state) {
  const Model* model = load(state);
  if (model == nullptr) return;
  const PromptStage stage(*model);
  Random random(3);
  Conversation conversation = long_conversation(random);
  for (int i = 0; i < 12; ++i) {
    conversation.tools.push_back(
        {.name = "tool_" + std::to_string(i),
         .description = words(random, 30),
         .input_schema = R"({"type":"object","properties":{"path":{"type":"string"}}})"});
  }
  for (std::size_t i = 1; i + 1 < conversation.messages.size(); i += 2) {
    const std::string id = "toolu_" + std::to_string(i);
    conversation.messages[i].content.emplace_back(ToolUseBlock{id, "tool_1", R"({"path":"x"})"});
    conversation.messages[i + 1].content = {
        ToolResultBlock{.tool_use_id = id, .content = {TextBlock{words(random, 130)}}}};
  }
  (void)stage.prepare(conversation);
  for (auto _ : state) {
    state.PauseTiming();
    conversation.messages.resize(39);
    add_turns(conversation, random, 2);
    state.ResumeTiming();
    benchmark::DoNotOptimize(stage.prepare(conversation));
  }
}

std::vector<std::string> fresh_texts() {
  Random random(4);
  std::vector<std::string> texts;
  for (int i = 0; i < 4'096; ++i) {
    std::string text = words(random, 220);
    text.resize(1'000);
    texts.push_back(std::move(text));
  }
  return texts;
}

void BM_FreshTextOfOneKilobyte(benchmark::State& state) {
  const Model* model = load(state);
  if (model == nullptr) return;
  const PromptStage stage(*model);
  const std::vector<std::string> texts = fresh_texts();
  Conversation conversation{{{"Be brief."}}, {{Role::kUser, {TextBlock{}}}}};
  std::size_t next = 0;
  for (auto _ : state) {
    std::get<TextBlock>(conversation.messages[0].content[0]).text = texts[next++ % texts.size()];
    benchmark::DoNotOptimize(stage.prepare(conversation));
  }
}

void BM_BareTokenizerOnOneKilobyte(benchmark::State& state) {
  const Model* model = load(state);
  if (model == nullptr) return;
  const std::vector<std::string> texts = fresh_texts();
  std::size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        model->tokenizer().tokenize(texts[next++ % texts.size()], SpecialTokens::kParse));
  }
}

BENCHMARK(BM_SeenPrefixAndANewTurn)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_SeenPrefixAgain)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_SeenAgentPrefixAndANewTurn)->Unit(benchmark::kMicrosecond);
// Fewer rounds than texts: none of them is seen twice.
BENCHMARK(BM_FreshTextOfOneKilobyte)->Unit(benchmark::kMicrosecond)->Iterations(4'000);
BENCHMARK(BM_BareTokenizerOnOneKilobyte)->Unit(benchmark::kMicrosecond)->Iterations(4'000);

}  // namespace
}  // namespace zerohop

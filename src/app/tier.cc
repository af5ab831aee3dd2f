#include "app/tier.h"

#include <algorithm>

#include "app/ids.h"
#include "app/machine.h"
#include "app/output_chain.h"
#include "constrain/stop_automaton.h"

namespace zerohop {
namespace {

std::shared_ptr<const StopAutomaton> compile_stops(const GenerationParameters& generation) {
  if (generation.stop_sequences.empty()) return nullptr;
  return StopAutomaton::compile(generation.stop_sequences);
}

// Models trained for long contexts would take gigabytes of cells for each sequence unasked.
constexpr std::uint32_t kDefaultWindowMax = 8192;

std::uint32_t default_window(const EngineConfig& config, const ModelInfo& model) {
  std::uint32_t window = kDefaultWindowMax;
  if (model.context_trained != 0) window = std::min(window, model.context_trained);
  if (config.kv_cells != 0) window = std::min(window, config.kv_cells);
  return window;
}

// A full window for each sequence, as far as half of the free memory goes; one window at least.
std::uint32_t default_cells(const ContextOptions& options, const ModelInfo& model) {
  const std::uint64_t full = std::uint64_t{options.sequences} * options.window;
  const std::uint64_t cell_bytes = std::max<std::uint64_t>(model.kv_bytes_per_cell, 1);
  const std::uint64_t affordable = free_memory_bytes() / 2 / cell_bytes;
  return static_cast<std::uint32_t>(
      std::max<std::uint64_t>(std::min(full, affordable), options.window));
}

Result<void> check_options(const ContextOptions& options, const ModelInfo& info) {
  const auto refuse = [](std::string message) {
    return Error{ErrorCode::kConfiguration, std::move(message), "", {}};
  };
  if (info.attention == AttentionType::kWholeText) {
    return refuse("model.name: '" + info.name +
                  "' is not a model that generates text token by token; it can be "
                  "embeddings.model");
  }
  if (info.context_trained != 0 && options.window > info.context_trained) {
    return refuse("engine.context_tokens: " + std::to_string(options.window) +
                  " is more than the model was trained for (" +
                  std::to_string(info.context_trained) + ")");
  }
  if (options.cells != 0 && options.cells < options.window) {
    return refuse("engine.kv_cells: " + std::to_string(options.cells) +
                  " cells cannot hold one request of " + std::to_string(options.window) +
                  " tokens (engine.context_tokens)");
  }
  if (options.batch_rows < options.sequences) {
    return refuse("engine.batch_rows: " + std::to_string(options.batch_rows) +
                  " rows are fewer than the sequences that each need one (" +
                  std::to_string(options.sequences) + ")");
  }
  return {};
}

}  // namespace

ContextOptions context_options(const EngineConfig& config, const ModelInfo& model) {
  ContextOptions options;
  options.sequences = config.sequences;
  options.window =
      config.context_tokens != 0 ? config.context_tokens : default_window(config, model);
  options.batch_rows = config.batch_rows;
  options.logit_rows = config.sequences;
  options.threads = config.threads == 0 ? usable_cores() : config.threads;
  options.flash_attention = config.flash_attention;
  // The pool shares prefixes between sequences; one stream per sequence cannot.
  options.layout =
      config.kv_layout == KvLayoutChoice::kStreams ? KvLayout::kStreams : KvLayout::kUnified;
  if (config.deterministic) {
    // Greedy text is invariant under batching and chunking only so; see docs/ARCHITECTURE.md.
    options.layout = KvLayout::kStreams;
    options.flash_attention = FlashAttention::kOff;
  }
  if (options.layout == KvLayout::kUnified) {
    options.cells = config.kv_cells != 0 ? config.kv_cells : default_cells(options, model);
  }
  return options;
}

Result<std::unique_ptr<Tier>> Tier::create(std::unique_ptr<Model> model, const EngineConfig& config,
                                           TierParts parts) {
  const ContextOptions options = context_options(config, model->info());
  ZH_RETURN_IF_ERROR(check_options(options, model->info()));
  ZH_ASSIGN_OR_RETURN(EmbeddingModel embeddings,
                      EmbeddingModel::create(*model, std::move(parts.embedding_model), options));
  ZH_ASSIGN_OR_RETURN(std::unique_ptr<ModelContext> context, model->make_context(options));

  EngineOptions engine_options;
  engine_options.window = options.window;
  engine_options.batch_rows = options.batch_rows;
  engine_options.logit_rows = options.logit_rows;
  engine_options.itl_objective = std::chrono::milliseconds(config.itl_objective_ms);
  engine_options.exactness = config.deterministic ? Exactness::kExact : Exactness::kFast;
  engine_options.seed = parts.seed;
  engine_options.on_step = std::move(parts.on_step);
  EngineParts engine_parts{std::move(context), &model->tokenizer().table(), parts.clock,
                           parts.waker, embeddings.support()};
  auto loop = std::make_unique<EngineLoop>(std::move(engine_parts), std::move(engine_options));
  return std::unique_ptr<Tier>(
      new Tier(std::move(model), std::move(embeddings), std::move(loop), parts));
}

Tier::Tier(std::unique_ptr<Model> model, EmbeddingModel embeddings,
           std::unique_ptr<EngineLoop> loop, const TierParts& parts)
    : model_(std::move(model)),
      embeddings_(std::move(embeddings)),
      prompts_(*model_, parts.default_system),
      clock_(*parts.clock),
      loop_(std::move(loop)) {}

Tier::~Tier() { stop(); }

void Tier::start() { thread_ = std::make_unique<EngineThread>(*loop_); }

void Tier::stop() {
  if (thread_) {
    thread_->stop();
    thread_.reset();
  } else {
    loop_->stop();
    loop_->fail_all();
  }
}

Result<PreparedPrompt> Tier::prepare_prompt(const Conversation& conversation,
                                            PromptDetail detail) const {
  ZH_ASSIGN_OR_RETURN(PreparedPrompt prompt, prompts_.prepare(conversation, detail));
  if (prompt.tokens.size() > window()) return prompt_too_long(prompt.tokens.size(), window());
  return prompt;
}

Result<PreparedPrompt> Tier::prepare_text(std::string_view text) const {
  return prepare_tokens(model_->tokenizer().tokenize(text, SpecialTokens::kParse));
}

Result<PreparedPrompt> Tier::prepare_tokens(std::vector<Token> tokens) const {
  ZH_RETURN_IF_ERROR(check_vocabulary(tokens, model_->info()));
  const std::optional<Token> begin = model_->tokenizer().begin_of_sequence();
  if (begin && (tokens.empty() || tokens.front() != *begin)) tokens.insert(tokens.begin(), *begin);
  if (tokens.empty()) return invalid_request("prompt", "must not be empty");
  if (tokens.size() > window()) return prompt_too_long(tokens.size(), window());
  PreparedPrompt prompt;
  prompt.tokens = std::move(tokens);
  return prompt;
}

PreparedGeneration Tier::make_generation(const PreparedPrompt& prompt,
                                         const GenerationParameters& generation,
                                         const ChoiceOptions& choice) const {
  OutputChainParts parts;
  parts.plan = prompt.output;
  parts.stops = choice.stops != nullptr ? choice.stops : compile_stops(generation);
  parts.make_tool_call_id = [prefix = std::string(choice.tool_id_prefix)] {
    return make_id(prefix);
  };
  PreparedGeneration prepared;
  prepared.request.prompt = prompt.tokens;
  prepared.request.marked_tokens = prompt.marked_tokens;
  prepared.request.max_tokens = generation.max_tokens;
  prepared.request.sampling = generation.sampling;
  if (generation.sampling.seed) {
    prepared.request.sampling.seed = *generation.sampling.seed + choice.index;
  }
  prepared.request.top_logprobs = generation.top_logprobs;
  prepared.request.stage = make_output_chain(std::move(parts));
  return prepared;
}

std::vector<PreparedGeneration> Tier::make_generations(const PreparedPrompt& prompt,
                                                       const GenerationParameters& generation,
                                                       const Choices& choices) const {
  ChoiceOptions choice{0, choices.tool_id_prefix, compile_stops(generation)};
  std::vector<PreparedGeneration> prepared;
  prepared.reserve(choices.count);
  for (; choice.index < choices.count; ++choice.index) {
    prepared.push_back(make_generation(prompt, generation, choice));
  }
  return prepared;
}

Result<PreparedGeneration> Tier::prepare(const Conversation& conversation,
                                         const GenerationParameters& generation) const {
  ZH_ASSIGN_OR_RETURN(const PreparedPrompt prompt, prepare_prompt(conversation));
  return make_generation(prompt, generation);
}

Result<std::shared_ptr<TokenStream>> Tier::submit(PreparedGeneration prepared) {
  std::shared_ptr<TokenStream> stream = loop_->make_stream();
  prepared.request.stream = stream;
  prepared.request.submitted_at = clock_.now();
  ZH_RETURN_IF_ERROR(loop_->submit(std::move(prepared.request)));
  return stream;
}

}  // namespace zerohop

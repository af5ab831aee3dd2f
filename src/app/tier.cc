#include "app/tier.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "app/ids.h"
#include "app/output_chain.h"

namespace zerohop {
namespace {

// What the configuration says where the request says nothing.
std::optional<SoftCap> soft_cap_of(const GenerationParameters& generation,
                                   const LimitsConfig& limits) {
  if (generation.soft_cap || limits.soft_cap_percent == 0) return generation.soft_cap;
  return SoftCap{limits.soft_cap_percent / 100.0, limits.soft_cap_stop, true};
}

}  // namespace

CompiledStops compile_stops(const GenerationParameters& generation, const LimitsConfig& limits) {
  CompiledStops stops;
  if (!generation.stop_sequences.empty()) {
    stops.hard = StopAutomaton::compile(generation.stop_sequences);
  }
  if (const auto cap = soft_cap_of(generation, limits)) {
    stops.soft_cap = SoftCapStops::compile(generation.stop_sequences, *cap);
    stops.soft_cap_at = cap->at;
  }
  return stops;
}

// What making a tier came to.
struct Tier::Made {
  std::unique_ptr<EngineLoop> loop;
  ContextOptions context;
  std::string layout_reason;
  std::uint64_t state_fingerprint = 0;
};

Result<std::unique_ptr<Tier>> Tier::create(std::unique_ptr<Model> model, const EngineConfig& wanted,
                                           TierParts parts) {
  const EngineConfig config = with_layout(wanted, parts.layout);
  const ContextOptions options = context_options(config, model->info());
  ZH_RETURN_IF_ERROR(check_context_options(options, model->info()));
  ZH_ASSIGN_OR_RETURN(EmbeddingModel embeddings,
                      EmbeddingModel::create(*model, std::move(parts.embedding_model), options));
  ZH_ASSIGN_OR_RETURN(std::unique_ptr<ModelContext> context, model->make_context(options));

  ZH_ASSIGN_OR_RETURN(EngineOptions engine,
                      engine_options({config, parts.cache, parts.scheduler, parts.queue}, options));
  engine.seed = parts.seed;
  engine.constraint_mask_bytes = parts.constraints.mask_bytes_max;
  engine.on_step = std::move(parts.on_step);
  engine.on_compaction = std::move(parts.on_compaction);
  const std::uint64_t fingerprint = context->state_fingerprint();
  EngineParts engine_parts{std::move(context),
                           &model->tokenizer().table(),
                           parts.clock,
                           parts.waker,
                           embeddings.support(),
                           [&tokenizer = model->tokenizer()](std::string_view text) {
                             return tokenizer.tokenize(text, SpecialTokens::kInert);
                           }};
  auto loop = std::make_unique<EngineLoop>(std::move(engine_parts), std::move(engine));
  return std::unique_ptr<Tier>(
      new Tier(std::move(model), std::move(embeddings),
               {std::move(loop), options, why_layout(wanted, parts.layout), fingerprint}, parts));
}

Tier::Tier(std::unique_ptr<Model> model, EmbeddingModel embeddings, Made made,
           const TierParts& parts)
    : model_(std::move(model)),
      embeddings_(std::move(embeddings)),
      prompts_(*model_, parts.default_system),
      limits_(parts.limits),
      context_(made.context),
      layout_reason_(std::move(made.layout_reason)),
      state_fingerprint_(made.state_fingerprint),
      clock_(*parts.clock),
      on_prompt_(parts.on_prompt),
      loop_(std::move(made.loop)) {
  loop_->set_marker_texts(prompts_.marker_tokens());
}

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
  const TimePoint begin = clock_.now();
  ZH_ASSIGN_OR_RETURN(PreparedPrompt prompt, prompts_.prepare(conversation, detail));
  if (on_prompt_) on_prompt_(clock_.now() - begin, prompt);
  if (prompt.tokens.size() > window()) return prompt_too_long(prompt.tokens.size(), window());
  return prompt;
}

std::optional<PreparedPrompt> Tier::recall_prompt(const Conversation& conversation,
                                                  PromptDetail detail) const {
  const TimePoint begin = clock_.now();
  std::optional<PreparedPrompt> prompt = prompts_.recall(conversation, detail);
  if (!prompt || prompt->tokens.size() > window()) return std::nullopt;
  if (on_prompt_) on_prompt_(clock_.now() - begin, *prompt);
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
  const LimitsConfig& limits = choice.limits == nullptr ? limits_ : *choice.limits;
  OutputChainParts parts;
  parts.plan = prompt.output;
  // Nothing may cut a document off: the client's own stop sequences were refused, the server's do
  // not apply.
  const bool whole = choice.constraint && prompt.output.rules.format != OutputFormat::kText;
  const CompiledStops stops = whole          ? CompiledStops()
                              : choice.stops ? *choice.stops
                                             : compile_stops(generation, limits);
  parts.stops.stops = stops.hard;
  parts.stops.soft_cap = stops.soft_cap;
  // The window may end the answer first.
  const std::size_t room = window() - std::min<std::size_t>(window(), prompt.tokens.size());
  const double longest = static_cast<double>(std::min<std::size_t>(generation.max_tokens, room));
  parts.stops.soft_cap_from = static_cast<std::uint32_t>(std::ceil(longest * stops.soft_cap_at));
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
  prepared.request.scheduling.priority = generation.priority;
  prepared.request.scheduling.soft_max_tokens =
      generation.soft_max_tokens.value_or(limits.soft_max_tokens);
  prepared.request.cache.mark_lifetime = prompt.mark_lifetime;
  prepared.request.cache.sections = prompt.sections;
  prepared.request.top_logprobs = generation.top_logprobs;
  prepared.request.constraint = choice.constraint;
  prepared.request.soft_rules = choice.soft_rules;
  prepared.request.stage = make_output_chain(std::move(parts));
  return prepared;
}

std::vector<PreparedGeneration> Tier::make_generations(const PreparedPrompt& prompt,
                                                       const GenerationParameters& generation,
                                                       std::uint32_t count,
                                                       ChoiceOptions shared) const {
  if (!shared.stops) {
    shared.stops = compile_stops(generation, shared.limits == nullptr ? limits_ : *shared.limits);
  }
  std::vector<PreparedGeneration> prepared;
  prepared.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i, ++shared.index) {
    prepared.push_back(make_generation(prompt, generation, shared));
  }
  return prepared;
}

Result<PreparedGeneration> Tier::prepare(const Conversation& conversation,
                                         const GenerationParameters& generation) const {
  ZH_ASSIGN_OR_RETURN(const PreparedPrompt prompt, prepare_prompt(conversation));
  return make_generation(prompt, generation);
}

Result<std::shared_ptr<TokenStream>> Tier::submit(PreparedGeneration prepared) {
  std::vector<PreparedGeneration> one;
  one.push_back(std::move(prepared));
  ZH_ASSIGN_OR_RETURN(auto streams, submit_all(std::move(one)));
  return std::move(streams.front());
}

Result<std::vector<std::shared_ptr<TokenStream>>> Tier::submit_all(
    std::vector<PreparedGeneration> answers) {
  std::vector<std::shared_ptr<TokenStream>> streams;
  std::vector<EngineRequest> requests;
  for (PreparedGeneration& answer : answers) {
    std::shared_ptr<TokenStream> stream = loop_->make_stream();
    if (answer.read_at_end) stream->wake_at_end(clock_);
    answer.request.stream = stream;
    answer.request.submitted_at = clock_.now();
    streams.push_back(std::move(stream));
    requests.push_back(std::move(answer.request));
  }
  ZH_RETURN_IF_ERROR(loop_->submit_all(std::move(requests)));
  return streams;
}

}  // namespace zerohop

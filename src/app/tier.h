// A tier: one loaded model with its prompt stage and its engine, and the model that makes vectors
// there. What handlers, the terminal chat, tests and benchmarks all drive; it knows no socket.
//
// prepare() from workers, submit() and snapshot() from any thread. start() and stop() from the
// owner.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/config.h"
#include "app/embedding_model.h"
#include "app/engine_setup.h"
#include "base/clock.h"
#include "constrain/soft_cap.h"
#include "constrain/stop_automaton.h"
#include "core/request.h"
#include "engine/engine_loop.h"
#include "engine/engine_thread.h"
#include "engine/layout_choice.h"
#include "model/model.h"
#include "prompt/prompt_stage.h"

namespace zerohop {

/// What the tier is given; what it points to outlives it.
struct TierParts {
  std::unique_ptr<Model> embedding_model;  ///< null: the served model makes the vectors
  const Clock* clock = nullptr;
  StreamWaker* waker = nullptr;
  std::uint64_t seed = 0;      ///< of requests that bring none
  std::string default_system;  ///< of conversations that bring none; empty: the template's own
  CacheConfig cache = {};
  SchedulerConfig scheduler = {};
  QueueConfig queue = {};
  LimitsConfig limits = {};
  ConstraintsConfig constraints = {};
  /// What was measured, for a configuration that leaves the layout open (layout_store.h).
  std::optional<KvLayoutChoiceReport> layout = std::nullopt;
  std::function<void(const StepReport&)> on_step;              ///< engine thread
  std::function<void(const CompactionReport&)> on_compaction;  ///< likewise
  /// After a prompt was made: how long that took, and of what. Workers, and the I/O thread for what
  /// is remembered.
  std::function<void(Duration took, const PreparedPrompt& prompt)> on_prompt;
};

/// A request that has become tokens and rules, ready for the engine.
struct PreparedGeneration {
  EngineRequest request;     ///< without its stream
  bool read_at_end = false;  ///< nothing of it leaves before its end: TokenStream::wake_at_end()
};

/// The stop sequences of a request, compiled once for all its answers.
struct CompiledStops {
  std::shared_ptr<const StopAutomaton> hard;     ///< null: none
  std::shared_ptr<const SoftCapStops> soft_cap;  ///< null: none
  double soft_cap_at = 1;                        ///< share of the answer's limit
};

/// `limits` says what holds for requests without a soft cap of their own.
CompiledStops compile_stops(const GenerationParameters& generation, const LimitsConfig& limits);

/// How an answer to a prompt is made, beside its parameters.
struct ChoiceOptions {
  std::uint32_t index = 0;  ///< with a seed, each choice has its own generator
  std::string_view tool_id_prefix = "toolu_";
  std::optional<CompiledStops> stops = std::nullopt;  ///< nothing: compiled for this choice
  std::shared_ptr<const CompiledConstraint> constraint = nullptr;     ///< null: anything is allowed
  std::shared_ptr<const std::vector<SoftRule>> soft_rules = nullptr;  ///< null: none
  const LimitsConfig* limits = nullptr;  ///< what holds for this request; null: the tier's own
};

class Tier {
 public:
  /// Makes the model's context. Errors: kConfiguration (limits that do not fit each other or the
  /// model, not enough memory, a model that writes no text or none that makes vectors).
  static Result<std::unique_ptr<Tier>> create(std::unique_ptr<Model> model,
                                              const EngineConfig& config, TierParts parts);
  ~Tier();

  const std::string& name() const { return model_->info().name; }
  const Model& model() const { return *model_; }
  const EmbeddingModel& embeddings() const { return embeddings_; }
  const PromptStage& prompts() const { return prompts_; }
  std::uint32_t window() const { return loop_->window(); }
  /// How the context was made.
  const ContextOptions& context() const { return context_; }
  /// ModelContext::state_fingerprint() of the engine's context.
  std::uint64_t state_fingerprint() const { return state_fingerprint_; }
  /// Why its layout is what it is, for people.
  const std::string& layout_reason() const { return layout_reason_; }
  EngineSnapshot snapshot() const { return loop_->snapshot(); }

  /// A conversation to tokens. Errors: kInvalidRequest, kPromptTooLong.
  Result<PreparedPrompt> prepare_prompt(const Conversation& conversation,
                                        PromptDetail detail = PromptDetail::kTokens) const;
  /// The same from memory, where all of it is there (PromptStage::recall); nothing otherwise, also
  /// for what prepare_prompt() refuses. Any thread, also one that must not wait.
  std::optional<PreparedPrompt> recall_prompt(const Conversation& conversation,
                                              PromptDetail detail = PromptDetail::kTokens) const;
  /// Text that is the whole prompt as it stands: names of special tokens in it are those tokens.
  /// Errors: kInvalidRequest (nothing in it), kPromptTooLong.
  Result<PreparedPrompt> prepare_text(std::string_view text) const;
  /// Tokens that are the whole prompt. Errors: kInvalidRequest (none, or not in the vocabulary),
  /// kPromptTooLong.
  Result<PreparedPrompt> prepare_tokens(std::vector<Token> tokens) const;

  /// What the engine needs to continue `prompt`.
  PreparedGeneration make_generation(const PreparedPrompt& prompt,
                                     const GenerationParameters& generation,
                                     const ChoiceOptions& choice = {}) const;

  /// The same for `count` answers, which share what is compiled; `shared.index` is the first one's.
  std::vector<PreparedGeneration> make_generations(const PreparedPrompt& prompt,
                                                   const GenerationParameters& generation,
                                                   std::uint32_t count, ChoiceOptions shared) const;

  /// prepare_prompt() and make_generation().
  Result<PreparedGeneration> prepare(const Conversation& conversation,
                                     const GenerationParameters& generation) const;

  /// Queues it; events arrive in the returned stream. Errors: kOverloaded, kShuttingDown.
  Result<std::shared_ptr<TokenStream>> submit(PreparedGeneration prepared);
  /// The same for all answers of one request: either all are queued or none.
  Result<std::vector<std::shared_ptr<TokenStream>>> submit_all(
      std::vector<PreparedGeneration> answers);

  /// Queues token lists of embeddings() for vectors. Errors: those of
  /// EngineLoop::submit_embedding().
  Result<std::shared_ptr<EmbeddingJob>> submit_embedding(EmbeddingRequest request) {
    return loop_->submit_embedding(std::move(request));
  }

  /// Starts the engine thread. Without it the owner of loop() steps.
  void start();
  /// Ends every request with kShuttingDown and joins the engine thread. Idempotent.
  void stop();
  EngineLoop& loop() { return *loop_; }

 private:
  struct Made;
  Tier(std::unique_ptr<Model> model, EmbeddingModel embeddings, Made made, const TierParts& parts);

  const std::unique_ptr<Model> model_;
  const EmbeddingModel embeddings_;
  const PromptStage prompts_;
  const LimitsConfig limits_;
  const ContextOptions context_;
  const std::string layout_reason_;
  const std::uint64_t state_fingerprint_;
  const Clock& clock_;
  const std::function<void(Duration, const PreparedPrompt&)> on_prompt_;  // empty: nobody asks
  const std::unique_ptr<EngineLoop> loop_;
  std::unique_ptr<EngineThread> thread_;
};

}  // namespace zerohop

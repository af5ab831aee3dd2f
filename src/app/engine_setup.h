// How the configuration asks for a context and for the engine's behaviour; `auto` choices made.
// Pure but for the look at the machine's free memory; any thread, at start.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/config.h"
#include "core/error.h"
#include "engine/engine_options.h"
#include "engine/layout_choice.h"
#include "model/model.h"

namespace zerohop {

/// The sections of a configuration that the engine is made from.
struct EngineSetup {
  EngineConfig engine;
  CacheConfig cache;
  SchedulerConfig scheduler;
  QueueConfig queue = {};
};

/// "unified" or "streams".
std::string_view kv_layout_name(KvLayout layout);
/// "on", "off" or "auto".
std::string_view flash_attention_name(FlashAttention choice);

ContextOptions context_options(const EngineConfig& config, const ModelInfo& model);

/// `config` with what was measured in place of what it leaves open.
EngineConfig with_layout(const EngineConfig& config,
                         const std::optional<KvLayoutChoiceReport>& measured);

/// Why that layout, in a few words for people.
std::string why_layout(const EngineConfig& config,
                       const std::optional<KvLayoutChoiceReport>& measured);

/// Errors: kConfiguration (limits that do not fit each other or the model).
Result<void> check_context_options(const ContextOptions& options, const ModelInfo& model);

/// For a context that was made with `context`. Errors: kConfiguration (classes without a weight,
/// more reserved or concurrent sequences than there are).
Result<EngineOptions> engine_options(const EngineSetup& setup, const ContextOptions& context);

/// How many sequences run at once, of `sequences` that there are and `reserved` that are kept for
/// their classes. Errors: kConfiguration.
struct SequenceCounts {
  std::uint32_t sequences = 0;
  std::uint32_t reserved = 0;
};
Result<ConcurrencyOptions> concurrency_options(const QueueConfig& config,
                                               const SequenceCounts& counts);

/// Weights and reservations of the classes. Errors: as above.
Result<FairQueueOptions> fairness_options(const SchedulerConfig& config, std::uint32_t sequences);

}  // namespace zerohop

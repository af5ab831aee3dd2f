#include "app/engine_setup.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

#include "app/config_error.h"
#include "app/machine.h"
#include "core/limits.h"

namespace zerohop {
namespace {

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

// One id is left to the context, which saves parts of a sequence through it.
std::uint32_t parked_sequences(const EngineConfig& config, const ModelInfo& model) {
  // Also where windows forget, every id has memory of its own.
  const bool costly = model.ids_hold_memory || config.window_cache == WindowCache::kWindow;
  if (config.parked_sequences == EngineConfig::kAutoSequences && costly) return 0;
  const std::uint32_t most = limits::kSequencesMax - 1;
  const std::uint32_t left = most - std::min(most, config.sequences);
  return std::min(config.parked_sequences, left);
}

std::uint64_t host_cache_bytes(const EngineConfig& config) {
  constexpr std::uint64_t kAutoMost = std::uint64_t{2} << 30;
  if (config.host_cache_bytes != EngineConfig::kAutoBytes) return config.host_cache_bytes;
  return std::min(kAutoMost, free_memory_bytes() / 8);
}

}  // namespace

std::string_view kv_layout_name(KvLayout layout) {
  return layout == KvLayout::kStreams ? "streams" : "unified";
}

std::string_view flash_attention_name(FlashAttention choice) {
  switch (choice) {
    case FlashAttention::kOn: return "on";
    case FlashAttention::kOff: return "off";
    case FlashAttention::kAuto: break;
  }
  return "auto";
}

ContextOptions context_options(const EngineConfig& config, const ModelInfo& model) {
  ContextOptions options;
  options.sequences = config.sequences;
  options.window =
      config.context_tokens != 0 ? config.context_tokens : default_window(config, model);
  options.batch_rows = config.batch_rows;
  options.logit_rows =
      std::min(config.batch_rows, config.sequences + draft_logit_rows(config.speculation));
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
  options.full_window_cache = config.window_cache == WindowCache::kFull;
  if (options.layout == KvLayout::kUnified) {
    options.parked = parked_sequences(config, model);
    options.cells = config.kv_cells != 0 ? config.kv_cells : default_cells(options, model);
  }
  return options;
}

EngineConfig with_layout(const EngineConfig& config,
                         const std::optional<KvLayoutChoiceReport>& measured) {
  EngineConfig chosen = config;
  if (!measured || config.deterministic || config.kv_layout != KvLayoutChoice::kAuto) return chosen;
  const bool streams = measured->layout == KvLayout::kStreams;
  chosen.kv_layout = streams ? KvLayoutChoice::kStreams : KvLayoutChoice::kUnified;
  if (config.flash_attention == FlashAttention::kAuto) {
    chosen.flash_attention = measured->flash_attention;
  }
  return chosen;
}

std::string why_layout(const EngineConfig& config,
                       const std::optional<KvLayoutChoiceReport>& measured) {
  if (config.deterministic) return "engine.deterministic";
  if (config.kv_layout != KvLayoutChoice::kAuto) return "engine.kv_layout";
  if (measured && !measured->reason.empty()) return measured->reason;
  return "sequences share prefixes in one pool";
}

Result<void> check_context_options(const ContextOptions& options, const ModelInfo& info) {
  if (info.attention == AttentionType::kWholeText) {
    return configuration_error("model.name: '" + info.name +
                               "' is not a model that generates text token by token; it can be "
                               "embeddings.model");
  }
  if (info.context_trained != 0 && options.window > info.context_trained) {
    return configuration_error("engine.context_tokens: " + std::to_string(options.window) +
                               " is more than the model was trained for (" +
                               std::to_string(info.context_trained) + ")");
  }
  if (options.cells != 0 && options.cells < options.window) {
    return configuration_error("engine.kv_cells: " + std::to_string(options.cells) +
                               " cells cannot hold one request of " +
                               std::to_string(options.window) + " tokens (engine.context_tokens)");
  }
  if (options.batch_rows < options.sequences) {
    return configuration_error("engine.batch_rows: " + std::to_string(options.batch_rows) +
                               " rows are fewer than the sequences that each need one (" +
                               std::to_string(options.sequences) + ")");
  }
  return {};
}

Result<FairQueueOptions> fairness_options(const SchedulerConfig& config, std::uint32_t sequences) {
  if (config.class_weights.size() != kPriorityClasses) {
    return configuration_error(
        "scheduler.class_weights: needs three numbers, of priority, standard and batch");
  }
  if (config.reserved_sequences.size() != kPriorityClasses) {
    return configuration_error(
        "scheduler.reserved_sequences: needs three, of priority, standard and batch");
  }
  FairQueueOptions options;
  options.sequences = sequences;
  double reserved = 0;
  for (std::size_t i = 0; i < kPriorityClasses; ++i) {
    const double count = config.reserved_sequences[i];
    if (!(config.class_weights[i] > 0))
      return configuration_error("scheduler.class_weights: must be above 0");
    if (count != std::floor(count)) {
      return configuration_error("scheduler.reserved_sequences: must be whole numbers");
    }
    reserved += count;
    if (reserved >= sequences && reserved > 0) {
      return configuration_error(
          "scheduler.reserved_sequences: together fewer than engine.sequences (" +
          std::to_string(sequences) + ")");
    }
    options.classes[i] = {config.class_weights[i], static_cast<std::uint32_t>(count)};
  }
  return options;
}

Result<ConcurrencyOptions> concurrency_options(const QueueConfig& config,
                                               const SequenceCounts& counts) {
  const auto at_most = [&counts](std::string_view key, std::uint32_t number) -> Result<void> {
    if (number <= counts.sequences) return {};
    return configuration_error("queue." + std::string(key) + ": " + std::to_string(number) +
                               " is more than engine.sequences (" +
                               std::to_string(counts.sequences) + "), of which the library has " +
                               std::to_string(limits::kSequencesMax) + " at most");
  };
  const bool moves = config.max_concurrent_requests == QueueConfig::kAuto;
  const std::uint32_t most =
      moves ? config.concurrent_requests_max : config.max_concurrent_requests;
  ZH_RETURN_IF_ERROR(at_most(moves ? "concurrent_requests_max" : "max_concurrent_requests", most));
  ConcurrencyOptions options;
  options.ceiling = most == 0 ? counts.sequences : most;
  options.floor = moves ? config.concurrent_requests_min : options.ceiling;
  if (options.floor > options.ceiling) {
    return configuration_error("queue.concurrent_requests_min: " + std::to_string(options.floor) +
                               " is more than the most that run at once (" +
                               std::to_string(options.ceiling) + ")");
  }
  if (counts.reserved >= options.floor && counts.reserved > 0) {
    return configuration_error(
        "scheduler.reserved_sequences and queue.pool_reserved_sequences: together fewer than the "
        "requests that run at once (" +
        std::to_string(options.floor) + ")");
  }
  return options;
}

namespace {

QueueLimits queue_limits(const QueueConfig& config) {
  QueueLimits queue;
  queue.requests_max = config.requests_max;
  queue.tokens_max = config.tokens_max;
  queue.tenant_share = config.tenant_share_percent / 100.0;
  return queue;
}

std::uint32_t reserved_in_all(const FairQueueOptions& fairness) {
  std::uint32_t reserved = fairness.pool_reserved_sequences;
  for (const ClassShare& share : fairness.classes) reserved += share.reserved_sequences;
  return reserved;
}

}  // namespace

Result<EngineOptions> engine_options(const EngineSetup& setup, const ContextOptions& context) {
  EngineOptions options;
  options.window = context.window;
  options.batch_rows = context.batch_rows;
  options.logit_rows = context.logit_rows;
  options.itl_objective = std::chrono::milliseconds(setup.engine.itl_objective_ms);
  options.adaptive_threads = setup.engine.adaptive_threads;
  options.exactness = setup.engine.deterministic ? Exactness::kExact : Exactness::kFast;
  options.speculation = setup.engine.speculation;
  options.cache.host_bytes_max = host_cache_bytes(setup.engine);
  options.cache.host_entries_max = setup.cache.kv_cache_max_entries;
  options.cache.keep = setup.cache.keep;
  options.cache.order = setup.cache.eviction;
  ZH_ASSIGN_OR_RETURN(options.fairness, fairness_options(setup.scheduler, context.sequences));
  options.fairness.pool_reserved_sequences = setup.queue.pool_reserved_sequences;
  ZH_ASSIGN_OR_RETURN(
      options.concurrency,
      concurrency_options(setup.queue, {context.sequences, reserved_in_all(options.fairness)}));
  options.queue = queue_limits(setup.queue);
  options.pressure.wait_max = std::chrono::seconds(setup.scheduler.max_wait_seconds);
  return options;
}

}  // namespace zerohop

// What one tier (a model with its engine) feeds while it works: the times of answers, of steps and
// of prompts. Each class below belongs to the thread that is named; a scrape may come from any.
// Owned by app, made when the model is loaded; it outlives the engine, and the registry outlives
// it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "core/snapshot.h"
#include "core/tenant.h"
#include "telemetry/registry.h"
#include "telemetry/sliding_window.h"

namespace zerohop {

/// Times of answers as their clients see them. I/O thread.
class AnswerMetrics {
 public:
  /// `tier` is a label.
  AnswerMetrics(MetricsRegistry& registry, const Clock& clock, std::string_view tier);
  AnswerMetrics(const AnswerMetrics&) = delete;
  AnswerMetrics& operator=(const AnswerMetrics&) = delete;

  /// A request got its place in a batch, `waited` after the engine accepted it.
  void placed(PriorityClass priority, Duration waited);
  /// The first text of an answer, `since` the first byte of its request.
  enum class Shape : std::uint8_t { kWhole, kStream };
  void first_text(PriorityClass priority, Duration since, Shape shape);
  /// Another burst of text, `gap` after the one before.
  void next_text(PriorityClass priority, Duration gap);

  struct Ended {
    Duration since_request{};  ///< from the first byte of its request
    Duration in_engine{};      ///< from its place in a batch
    Duration text{};           ///< from its first text
    std::uint32_t tokens = 0;  ///< of the answer
  };
  void ended(PriorityClass priority, const Ended& times);
  /// A piece of an answer was handed to its socket, which took `took`.
  void written(Duration took) { write_.observe(took); }

 private:
  void publish();

  struct ByClass {
    Histogram queue, ttft, itl, tpot, e2e;
  };

  const Clock& clock_;
  std::array<ByClass, kPriorityClasses> classes_;
  Histogram inference_, first_token_, write_;
  SlidingMax queue_max_, ttft_max_, itl_max_, e2e_max_;
  SlidingQuantile inference_window_;
  Gauge queue_gauge_, ttft_gauge_, itl_gauge_, e2e_gauge_, inference_p95_;
};

/// One step of the engine, as it tells of it.
struct StepTimes {
  enum class Kind : std::uint8_t {
    kPrefill,  ///< prompts only
    kDecode,   ///< somebody's next token as well
  };
  Kind kind = Kind::kPrefill;
  Duration pass{};    ///< the forward pass
  Duration sample{};  ///< drawing tokens, without `mask`; zero: none were drawn
  Duration mask{};    ///< finding what constraints allow; zero: nothing had to be found
  std::uint32_t rows = 0;
  double fragmentation = 0;  ///< EngineSnapshot::fragmentation behind it
};

/// What never changes about a tier.
struct TierFacts {
  std::string_view model;       ///< a label
  std::uint32_t sequences = 1;  ///< that are computed at once
  std::uint64_t model_bytes = 0;
  std::uint64_t kv_bytes_per_cell = 0;
};

/// Times of steps, and how busy the engine is. Engine thread; publish() on the scraping one.
class StepMetrics {
 public:
  StepMetrics(MetricsRegistry& registry, const Clock& clock, const TierFacts& facts);
  StepMetrics(const StepMetrics&) = delete;
  StepMetrics& operator=(const StepMetrics&) = delete;

  void step(const StepTimes& times);
  void compaction(Duration slice) { compact_.observe(slice); }

  /// Before a page is written: the engine's latest snapshot.
  void publish(const EngineSnapshot& engine);

 private:
  void publish_load(const EngineSnapshot& engine, TimePoint now);
  void publish_memory(const EngineSnapshot& engine);

  const Clock& clock_;
  const double sequences_;
  const double model_bytes_, cell_bytes_;

  Histogram step_, compact_, prefill_, decode_, sample_, mask_;
  SlidingMax step_max_;
  SlidingQuantile fragmentation_window_;
  // Nanoseconds of steps, and those of them weighted with the fill of the batch
  std::atomic<std::int64_t> stepped_{0}, filled_{0};

  Gauge step_gauge_, fragmentation_p95_, fragmentation_ratio_;
  Gauge busy_instance_, busy_model_, occupancy_, memory_used_, memory_total_;

  // Scraping thread: where the interval of the shares began, and what they are
  TimePoint since_;
  Duration busy_before_{};
  std::int64_t stepped_before_ = 0, filled_before_ = 0;
  double busy_share_ = 0, fill_ = 0;
};

/// How conversations become tokens. Any thread.
class PromptMetrics {
 public:
  explicit PromptMetrics(MetricsRegistry& registry);
  PromptMetrics(const PromptMetrics&) = delete;
  PromptMetrics& operator=(const PromptMetrics&) = delete;

  /// A prompt of `tokens`, which stand for `bytes` of text, took `took` to make.
  void prepared(Duration took, std::uint64_t tokens, std::uint64_t bytes);

 private:
  Histogram latency_;
  std::atomic<std::uint64_t> tokens_{0}, bytes_{0};
  Gauge score_;
};

struct TierMetrics {
  TierMetrics(MetricsRegistry& registry, const Clock& clock, const TierFacts& facts)
      : answers(registry, clock, facts.model), steps(registry, clock, facts), prompts(registry) {}

  AnswerMetrics answers;
  StepMetrics steps;
  PromptMetrics prompts;
};

}  // namespace zerohop

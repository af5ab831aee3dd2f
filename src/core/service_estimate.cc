#include "core/service_estimate.h"

#include <algorithm>

#include "core/limits.h"

namespace zerohop {
namespace {

struct Rates {
  double prompt_tokens_per_second = 0;
  double step_seconds = 0;  ///< of one more decoder
};

// Of the time, the part that prompts get while others decode. Their tokens come first, and a step
// is an objective long; longer where they leave too little of it (engine/batch_planner.h).
double prompt_share(const EngineSnapshot& engine, double objective) {
  const double decoders = engine.decode_step_seconds;
  const double stretched =
      std::min(decoders + decoders / limits::kPromptPart, objective * limits::kStepObjectivesMax);
  const double least = limits::kPrefillRowsMin / engine.prefill_tokens_per_second;
  const double step = std::max({objective, stretched, decoders + least});
  return 1 - decoders / step;
}

std::optional<Rates> rates_of(const EngineSnapshot& engine, Duration itl_objective) {
  if (engine.prefill_tokens_per_second <= 0) return std::nullopt;
  const double objective = to_seconds(itl_objective);
  const double share = engine.decoding > 0 && objective > 0 ? prompt_share(engine, objective) : 1.0;
  return Rates{engine.prefill_tokens_per_second * share, engine.decode_step_seconds};
}

// Until a sequence is free for a newcomer behind `in_front` others: one is freed every
// request_seconds ÷ sequences.
double sequence_wait(const EngineSnapshot& engine, double in_front) {
  const double there = engine.running() + in_front + engine.parked_requests;
  if (engine.sequences_max == 0 || there < engine.sequences_max) return 0;
  const double ahead = there + 1 - engine.sequences_max;
  return ahead * engine.request_seconds / engine.sequences_max;
}

}  // namespace

std::optional<ServiceEstimate> estimate_service(const EngineSnapshot& engine,
                                                const ServiceQuestion& question) {
  const std::optional<Rates> rates = rates_of(engine, question.itl_objective);
  if (!rates) return std::nullopt;
  // Prompts are computed while sequences become free, so the longer of the two counts.
  const InFront all{static_cast<double>(engine.queued), static_cast<double>(engine.queued_tokens)};
  const InFront front = question.in_front.value_or(all);
  const double prompts =
      (static_cast<double>(engine.prefill_tokens) + front.tokens) / rates->prompt_tokens_per_second;
  const double wait = std::max(prompts, sequence_wait(engine, front.requests));
  const double first =
      wait + question.uncached_tokens / rates->prompt_tokens_per_second + rates->step_seconds;
  const double rest = question.max_tokens > 0 ? question.max_tokens - 1.0 : 0.0;
  ServiceEstimate estimate;
  estimate.queue_wait = from_seconds(wait);
  estimate.first_token = from_seconds(first);
  estimate.last_token = from_seconds(first + rest * rates->step_seconds);
  return estimate;
}

DeadlineVerdict judge_deadline(const std::optional<ServiceEstimate>& estimate, Duration left) {
  if (left <= Duration::zero()) return DeadlineVerdict::kCannot;
  if (!estimate || estimate->last_token <= left) return DeadlineVerdict::kMeets;
  return estimate->first_token <= left ? DeadlineVerdict::kMayMiss : DeadlineVerdict::kCannot;
}

std::optional<TimePoint> latest_start(const EngineSnapshot& engine, const ServiceQuestion& question,
                                      TimePoint deadline) {
  const std::optional<Rates> rates = rates_of(engine, question.itl_objective);
  if (!rates) return std::nullopt;
  const double own = question.uncached_tokens / rates->prompt_tokens_per_second;
  return deadline - from_seconds(own + rates->step_seconds);
}

}  // namespace zerohop

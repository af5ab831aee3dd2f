#include "core/service_estimate.h"

#include <algorithm>

#include "core/limits.h"

namespace zerohop {
namespace {

struct Rates {
  double prompt_tokens_per_second = 0;
  double step_seconds = 0;   ///< of one more decoder
  double token_seconds = 0;  ///< of an answer, while prompts get their part of each step
};

// A step in which prompts are computed while others decode. Their tokens come first, and it is an
// objective long; longer where they leave too little of it (engine/batch_planner.h).
double step_beside_prompts(const EngineSnapshot& engine, double objective) {
  const double decoders = engine.decode_step_seconds;
  const double stretched =
      std::min(decoders + decoders / limits::kPromptPart, objective * limits::kStepObjectivesMax);
  const double least = limits::kPrefillRowsMin / engine.prefill_tokens_per_second;
  return std::max({objective, stretched, decoders + least});
}

std::optional<Rates> rates_of(const EngineSnapshot& engine, Duration itl_objective) {
  if (engine.prefill_tokens_per_second <= 0) return std::nullopt;
  const double objective = to_seconds(itl_objective);
  const double decoders = engine.decode_step_seconds;
  if (engine.decoding == 0 || objective <= 0) {
    return Rates{engine.prefill_tokens_per_second, decoders, decoders};
  }
  const double step = step_beside_prompts(engine, objective);
  return Rates{engine.prefill_tokens_per_second * (1 - decoders / step), decoders, step};
}

bool has_place(const EngineSnapshot& engine, double in_front) {
  const double there = engine.running() + in_front + engine.parked_requests;
  return engine.sequences_max == 0 || there < engine.sequences_max;
}

// Until a sequence is free for a newcomer behind `in_front` others: one is freed every
// request_seconds ÷ sequences.
double sequence_wait(const EngineSnapshot& engine, double in_front) {
  if (has_place(engine, in_front)) return 0;
  const double there = engine.running() + in_front + engine.parked_requests;
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
  // Behind a queue, others wait as well, and their prompts stretch each step of the answer.
  const double token = wait > 0 ? rates->token_seconds : rates->step_seconds;
  ServiceEstimate estimate;
  estimate.place_free = engine.sequences_max > 0 && has_place(engine, front.requests);
  estimate.queue_wait = from_seconds(wait);
  estimate.first_token = from_seconds(first);
  estimate.last_token = from_seconds(first + rest * token);
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
  const double rest = std::max(question.max_tokens, 1u) - 1.0;
  return deadline - from_seconds(own + rates->step_seconds + rest * engine.decode_step_seconds);
}

}  // namespace zerohop

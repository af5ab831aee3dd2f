#include "engine/penalties.h"

namespace zerohop {

TokenCount& TokenCounts::count_of(Token token) {
  const auto [place, added] = places_.try_emplace(token, seen_.size());
  if (added) seen_.push_back(TokenCount{token, 0});
  return seen_[place->second];
}

void TokenCounts::add_prompt(TokenSpan tokens) {
  for (const Token token : tokens) count_of(token);
}

void TokenCounts::add_answer(Token token) { ++count_of(token).in_answer; }

bool penalises_prompt(const SamplingParameters& parameters) {
  return parameters.repetition_penalty != 1.0f;
}

bool uses_penalties(const SamplingParameters& parameters) {
  return parameters.presence_penalty != 0.0f || parameters.frequency_penalty != 0.0f ||
         penalises_prompt(parameters);
}

void apply_penalties(std::span<float> logits, const SamplingParameters& parameters,
                     std::span<const TokenCount> seen) {
  const float repetition = parameters.repetition_penalty;
  for (const TokenCount& entry : seen) {
    if (entry.token < 0 || static_cast<std::size_t>(entry.token) >= logits.size()) continue;
    float& logit = logits[static_cast<std::size_t>(entry.token)];
    logit = logit > 0.0f ? logit / repetition : logit * repetition;
    if (entry.in_answer == 0) continue;
    logit -= parameters.presence_penalty +
             parameters.frequency_penalty * static_cast<float>(entry.in_answer);
  }
}

}  // namespace zerohop

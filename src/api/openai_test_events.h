// For tests: events with counts that tell them apart.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/event.h"

namespace zerohop::openai_test {

inline Event started() { return Started{Usage{10, 4, 0, 0, 0}, {}}; }
inline Event text(std::string value) { return TextDelta{std::move(value)}; }
inline Event thinking(std::string value) { return ThinkingDelta{std::move(value)}; }
inline Event call(std::string id, std::string name) {
  return ToolCallStarted{std::move(id), std::move(name)};
}
inline Event arguments(std::string json) { return ToolCallDelta{std::move(json)}; }
inline Event token(std::string bytes, float logprob) {
  TokenLogprobs event;
  event.chosen = TokenChance{1, std::move(bytes), logprob};
  return event;
}
inline Event finished(FinishReason reason = FinishReason::kEndOfTurn) {
  return Finished{reason, {}, Usage{10, 4, 0, 5, 2}};
}
inline Event failed() {
  return Failed{Error{ErrorCode::kModelFailure, "the model failed", "", {}}};
}

}  // namespace zerohop::openai_test

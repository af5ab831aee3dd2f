#include "core/usage.h"

namespace zerohop {

std::string_view finish_reason_name(FinishReason reason) {
  switch (reason) {
    case FinishReason::kEndOfTurn: return "end_of_turn";
    case FinishReason::kMaxTokens: return "max_tokens";
    case FinishReason::kContextWindow: return "context_window";
    case FinishReason::kStopSequence: return "stop_sequence";
    case FinishReason::kToolUse: return "tool_use";
  }
  return "unknown";
}

}  // namespace zerohop

// What a request cost, and why its answer ended.
#pragma once

#include <cstdint>
#include <string_view>

namespace zerohop {

struct Usage {
  std::uint32_t prompt_tokens = 0;         ///< the whole rendered prompt
  std::uint32_t prompt_tokens_cached = 0;  ///< of these, found in the KV cache
  /// Of the prompt, those up to the client's last cache mark; 0 without marks.
  std::uint32_t prompt_tokens_marked = 0;
  std::uint32_t output_tokens = 0;    ///< generated, end-of-turn token excluded
  std::uint32_t thinking_tokens = 0;  ///< of these, what the model thought before it answered

  std::uint32_t prompt_tokens_computed() const { return prompt_tokens - prompt_tokens_cached; }
  /// Computed in front of the last cache mark: what a client is told was written to the cache.
  std::uint32_t prompt_tokens_written() const {
    return prompt_tokens_marked > prompt_tokens_cached ? prompt_tokens_marked - prompt_tokens_cached
                                                       : 0;
  }
  friend bool operator==(const Usage&, const Usage&) = default;
};

enum class FinishReason : std::uint8_t {
  kEndOfTurn,      ///< the model ended its turn
  kMaxTokens,      ///< the request's own limit
  kContextWindow,  ///< the window was full before max_tokens
  kStopSequence,   ///< one of the request's stop sequences matched
  kToolUse,        ///< the turn ended with tool calls for the client to run
};

std::string_view finish_reason_name(FinishReason reason);

}  // namespace zerohop

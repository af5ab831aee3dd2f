// The token meter: how a budget cuts a stream on the exact token. The engine asks before it lets a
// generated token out; admission answers. Called on the engine thread, once per token: no locks
// held over work, no I/O (a budget check costs ≤ 100 ns).
#pragma once

#include <cstdint>
#include <optional>

#include "core/error.h"

namespace zerohop {

/// A prompt as the engine is going to compute it.
struct PromptShare {
  std::uint32_t uncached = 0;  ///< tokens
  std::uint32_t cached = 0;
};

class TokenMeter {
 public:
  virtual ~TokenMeter() = default;

  /// Asked once, when the request reaches the engine and it is known how much of its prompt is
  /// cached; nothing has been computed then. An error: the request ends with it. What of the cached
  /// part is lost until the start still counts as cached in its usage.
  virtual std::optional<Error> admit_prompt(const PromptShare&) { return std::nullopt; }

  /// Takes one output token from the budget. False: there is none left; the token must not be sent
  /// and the stream ends with FinishReason::kMaxTokens.
  virtual bool spend_output_token() = 0;

  /// How many more tokens it will let out, so that a structure can be closed in time. A meter of
  /// several requests says what it keeps for this one. Nothing: not known; then it may cut a
  /// structure in the middle.
  virtual std::optional<std::uint64_t> remaining() const { return std::nullopt; }
};

}  // namespace zerohop

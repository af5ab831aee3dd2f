// The token meter: how a budget cuts a stream on the exact token. The engine asks before it lets a
// generated token out; admission answers. Called on the engine thread, once per token: no locks
// held over work, no I/O (a budget check costs ≤ 100 ns).
#pragma once

#include <cstdint>
#include <optional>

namespace zerohop {

class TokenMeter {
 public:
  virtual ~TokenMeter() = default;

  /// Takes one output token from the budget. False: there is none left; the token must not be sent
  /// and the stream ends with FinishReason::kMaxTokens.
  virtual bool spend_output_token() = 0;

  /// How many more tokens it will let out, so that a structure can be closed in time. A meter of
  /// several requests says what it keeps for this one. Nothing: not known; then it may cut a
  /// structure in the middle.
  virtual std::optional<std::uint64_t> remaining() const { return std::nullopt; }
};

}  // namespace zerohop

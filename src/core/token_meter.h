// The token meter: how a budget cuts a stream on the exact token. The engine asks before it lets a
// generated token out; admission answers. Called on the engine thread, once per token: no locks
// held over work, no I/O (a budget check costs ≤ 100 ns).
#pragma once

namespace zerohop {

class TokenMeter {
 public:
  virtual ~TokenMeter() = default;

  /// Takes one output token from the budget. False: there is none left; the token must not be sent
  /// and the stream ends with FinishReason::kMaxTokens.
  virtual bool spend_output_token() = 0;
};

}  // namespace zerohop

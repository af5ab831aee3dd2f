// The right answer: what a request gets when it is alone in a fresh server.
//
// Batching, pauses, faults, cancellations of others and reused cells must not change a byte of it.
// The oracle goes through the same code as the world does, but with one request, no reuse, no faults
// and a reader that never lags, so what it checks is that requests do not touch each other.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/parse_options.h"
#include "app/tier.h"
#include "base/clock.h"
#include "core/usage.h"
#include "engine/token_stream.h"
#include "model/fake_model.h"
#include "world_options.h"

namespace zerohop {

/// A tier on the fake model of this world; the caller steps its loop.
std::unique_ptr<Tier> make_sim_tier(const WorldOptions& options, FakeFault fault,
                                    VirtualClock& clock, StreamWaker& waker);

ParseOptions sim_parse_options(const WorldOptions& options);

struct OracleAnswer {
  std::string text;
  FinishReason reason = FinishReason::kEndOfTurn;
  std::string stop_sequence;
  Usage usage;
};

class Oracle {
 public:
  explicit Oracle(const WorldOptions& options);

  /// Nothing when the request is refused.
  std::optional<OracleAnswer> answer(std::string_view body) const;

 private:
  WorldOptions options_;
};

}  // namespace zerohop

// The right answer: what a request gets when it is alone in a fresh server.
//
// Batching, pauses, faults, cancellations of others and reused cells must not change a byte of it.
// The oracle goes through the same code as the world does, but with one request, no reuse, no
// faults and a reader that never lags, so what it checks is that requests do not touch each other.
// Its own answer is held against plain_answer(), which knows nothing of the engine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/parse_options.h"
#include "app/tier.h"
#include "base/clock.h"
#include "engine/token_stream.h"
#include "model/fake_model.h"
#include "plain_answer.h"
#include "world_options.h"

namespace zerohop {

/// Where the world can reach into the fake model; see FakeModelOptions. Either may be empty.
struct ModelHooks {
  FakeFault fault;
  std::function<void(TokenSpan)> script;  ///< called for each row with logits; says nothing itself
};

/// A tier on the fake model of this world; the caller steps its loop.
std::unique_ptr<Tier> make_sim_tier(const WorldOptions& options, ModelHooks hooks,
                                    VirtualClock& clock, StreamWaker& waker);

ParseOptions sim_parse_options(const WorldOptions& options);

class Oracle {
 public:
  explicit Oracle(const WorldOptions& options);

  /// Nothing when the request is refused.
  std::optional<OracleAnswer> answer(std::string_view body) const;

  /// Of all answers so far, how many the plain loop gave otherwise.
  std::uint64_t disagreements() const { return disagreements_; }

 private:
  WorldOptions options_;
  mutable std::uint64_t disagreements_ = 0;
};

}  // namespace zerohop

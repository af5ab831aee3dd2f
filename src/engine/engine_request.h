// What the engine takes in: tokens and rules, no text, no dialect.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/strong_id.h"
#include "core/output_stage.h"
#include "core/request.h"
#include "core/token.h"
#include "core/token_meter.h"
#include "engine/token_stream.h"

namespace zerohop {

struct EngineRequestTag;
/// Number of a request inside one engine, in order of arrival.
using EngineRequestId = StrongId<EngineRequestTag, std::uint64_t>;

struct EngineRequest {
  std::vector<Token> prompt;        ///< 1 ≤ size ≤ window
  std::uint32_t marked_tokens = 0;  ///< of the prompt, those up to the client's last cache mark
  std::uint32_t max_tokens = 0;     ///< 0: compute the prompt only
  SamplingParameters sampling;
  /// A TokenLogprobs event for each accepted token, with that many of the likeliest tokens
  /// (at most limits::kTopLogprobsMax); nothing: none.
  std::optional<std::uint32_t> top_logprobs;
  std::unique_ptr<OutputStage> stage;
  std::unique_ptr<TokenMeter> meter;    ///< optional
  std::shared_ptr<TokenStream> stream;  ///< made by Engine::make_stream()
  TimePoint submitted_at{};
};

}  // namespace zerohop

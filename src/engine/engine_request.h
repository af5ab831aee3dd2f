// What the engine takes in: tokens and rules, no text, no dialect.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/strong_id.h"
#include "constrain/compiled_constraint.h"
#include "constrain/soft_bias.h"
#include "core/cache_miss.h"
#include "core/output_stage.h"
#include "core/request.h"
#include "core/service_estimate.h"
#include "core/tenant.h"
#include "core/token.h"
#include "core/token_meter.h"
#include "engine/queue_books.h"
#include "engine/token_stream.h"

namespace zerohop {

struct EngineRequestTag;
/// Number of a request inside one engine, in order of arrival.
using EngineRequestId = StrongId<EngineRequestTag, std::uint64_t>;

/// Whose request it is, how urgent, and until when it is worth anything.
struct Scheduling {
  TenantId tenant;
  double tenant_weight = 1;  ///< QueuedWork::weight
  PriorityClass priority = PriorityClass::kStandard;
  bool own_pool = false;              ///< QueuedWork::own_pool
  std::optional<TimePoint> deadline;  ///< of the whole answer
  /// The answer may be made shorter than max_tokens while cells are scarce.
  bool soft_max_tokens = false;
};

/// How the prompt cache treats a request.
struct CacheWishes {
  ScopeId scope = kPublicScope;
  std::uint64_t affinity = 0;  ///< hash of the client's own key; 0: none
  Duration mark_lifetime{};    ///< of EngineRequest::marked_tokens
  PromptSections sections;     ///< names the part in which a miss began
};

struct EngineRequest {
  std::vector<Token> prompt;        ///< 1 ≤ size ≤ window
  std::uint32_t marked_tokens = 0;  ///< of the prompt, those up to the client's last cache mark
  /// The request handed in before has the same one, so it is computed once for both.
  bool prompt_shared = false;
  std::uint32_t max_tokens = 0;  ///< 0: compute the prompt only
  SamplingParameters sampling;
  Scheduling scheduling;
  CacheWishes cache;
  /// A TokenLogprobs event for each accepted token, with that many of the likeliest tokens
  /// (at most limits::kTopLogprobsMax); nothing: none.
  std::optional<std::uint32_t> top_logprobs;
  /// What the answer must look like from its first token on; null: anything.
  std::shared_ptr<const CompiledConstraint> constraint;
  /// Values that get a little more weight (constrain/soft_bias.h); null: none.
  std::shared_ptr<const std::vector<SoftRule>> soft_rules;
  std::unique_ptr<OutputStage> stage;
  std::unique_ptr<TokenMeter> meter;    ///< optional
  std::shared_ptr<TokenStream> stream;  ///< made by Engine::make_stream()
  TimePoint submitted_at{};
  // Set by EngineLoop::submit()
  InFront in_front{};      ///< when it came
  QueueEntry queued = {};  ///< as it stands in the books while it waits for its first slot
};

}  // namespace zerohop

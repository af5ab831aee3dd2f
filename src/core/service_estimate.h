// When a request that came now would get its first token, and its last: what the engine's snapshot
// says about the future. For deadlines that cannot be met (refused at the door), for the order of
// those that can, and for the advice when to come back. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "core/snapshot.h"

namespace zerohop {

/// What waits and gets its turn before a newcomer.
struct InFront {
  double requests = 0;
  double tokens = 0;  ///< of their prompts, those that are not cached
};

struct ServiceQuestion {
  std::uint32_t uncached_tokens = 0;  ///< of the prompt
  std::uint32_t max_tokens = 0;
  Duration itl_objective{};  ///< of the engine: how long a step may be while somebody decodes
  std::optional<InFront> in_front = {};  ///< nothing: all that waits
};

struct ServiceEstimate {
  /// A sequence is free for it. Then it starts with the next step: a longer prompt that is in
  /// prefill is not in front of it (engine/prefill_order.h), whatever queue_wait says.
  bool place_free = false;  ///< false where nothing is known of sequences
  Duration queue_wait{};    ///< for everything that is in front of it
  Duration first_token{};   ///< from now
  Duration last_token{};    ///< from now, if the answer is as long as it may be
};

/// Nothing while the engine has not learned its rates.
///
/// Whatever is in prefill comes first, and whatever waits unless `in_front` says better: with fair
/// turns a tenant that asks for little has less in front of it.
std::optional<ServiceEstimate> estimate_service(const EngineSnapshot& engine,
                                                const ServiceQuestion& question);

enum class DeadlineVerdict : std::uint8_t {
  kMeets,    ///< the whole answer fits, or nothing is known yet
  kMayMiss,  ///< only an answer shorter than max_tokens does
  kCannot,   ///< not even the first token does
};

/// `left`: time until the deadline.
DeadlineVerdict judge_deadline(const std::optional<ServiceEstimate>& estimate, Duration left);

/// When a request has to leave the queue so that `max_tokens` tokens of its answer (at least the
/// first) come before `deadline` (QueuedWork::start_by): after its own prefill, at the speed of
/// those that decode now. Nothing while the engine has not learned its rates.
std::optional<TimePoint> latest_start(const EngineSnapshot& engine, const ServiceQuestion& question,
                                      TimePoint deadline);

}  // namespace zerohop

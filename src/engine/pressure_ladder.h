// When cells get scarce: which rung of the ladder the engine stands on, and what follows from it.
//
//   rung            is wanted above                             is held above
//   normal
//   park_idle       0.85 of the cells used (active + reserved,  0.80
//                   and idle ones where host memory takes them)
//   compress        0.85 of the host cap, while cells are       0.80
//                   wanted or held as well
//   compact         fragmentation 0.35                          0.30
//   soft_max_tokens fragmentation 0.40, or 0.92 of the cells    0.35, 0.87
//                   active + reserved; somebody allowed it
//   shed            the wait of a new request longer than       0.75 of that;
//                   wait_max; or 0.97 of the cells active +     0.92, and one waits
//                   reserved and one has waited for wait_max
//
//                        somebody wants a higher rung: one up per update()
//             ┌──────────────────────────────────────────────────────────────────────┐
//             │                                                                      ▼
//   normal ⇄ park_idle ⇄ compress ⇄ compact ⇄ soft_max_tokens ⇄ shed
//             ▲                                                                      │
//             └──────────────────────────────────────────────────────────────────────┘
//                nobody holds this rung or a higher one, and it was entered dwell_min
//                ago or earlier: one down
//
// A higher rung includes what the lower ones do, so shedding comes only after everything else was
// tried for a step. Each rung's action begins and ends with its own measure, at the same two marks:
// a full queue climbs past `compress` without compressing anything where host memory is not above
// 0.85, and what was begun there goes on until it is at 0.80.
//
// Why somebody has to have waited for wait_max before full cells mean shedding: cells that are all
// promised with a few requests behind them are a busy server, not an overloaded one.
//
// Pure: the same inputs give the same rungs. One owner (the engine thread).
#pragma once

#include <array>
#include <cstdint>

#include "base/clock.h"
#include "core/pressure.h"

namespace zerohop {

/// Where a rung is wanted, and down to where it is held.
struct PressureBand {
  double enter;
  double leave;
};

/// The marks of soft_max_tokens; soft_limit.h draws its line through them.
inline constexpr PressureBand kSoftFragmentation{0.40, 0.35};
inline constexpr PressureBand kSoftCells{0.92, 0.87};

/// Of `total` cells, those that running sequences hold or were promised. 0 where there are none.
double promised_share(std::uint64_t active, std::uint64_t reserved, std::uint64_t total);

struct PressureOptions {
  Duration wait_max{std::chrono::seconds(60)};         ///< for the first token, in the queue
  Duration dwell_min{std::chrono::milliseconds(500)};  ///< on a rung before leaving it downwards
};

struct PressureInput {
  std::uint32_t cells_total = 0;
  std::uint32_t cells_active = 0;
  std::uint32_t cells_parked = 0;
  std::uint32_t cells_reserved = 0;
  std::uint64_t host_bytes = 0;
  std::uint64_t host_bytes_max = 0;  ///< 0: no host tier
  double fragmentation = 0;
  std::uint32_t waiting = 0;       ///< requests
  Duration oldest_wait{};          ///< of those
  Duration predicted_wait{};       ///< of a request that would come now (core/service_estimate.h)
  std::uint32_t soft_allowed = 0;  ///< requests here that allow a shorter answer
};

struct PressureState {
  PressureRung rung = PressureRung::kNormal;
  PressureCause cause = PressureCause::kNone;
  TimePoint since{};  ///< on this rung

  // What to do now
  std::uint32_t cells_to_park = 0;      ///< PrefixCache::park_idle(); 0 without a host tier
  std::uint64_t bytes_to_compress = 0;  ///< PrefixCache::compress()
  bool compact = false;
  bool soft_max_tokens = false;  ///< soft_limit.h applies to those that allow it
  bool shed = false;
};

class PressureLadder {
 public:
  explicit PressureLadder(const PressureOptions& options) : options_(options) {}

  /// To be called once a step, and while requests wait. Climbs or descends by one rung at most.
  const PressureState& update(const PressureInput& input, TimePoint now);

  void set_wait_max(Duration wait_max) { options_.wait_max = wait_max; }

  const PressureState& state() const { return state_; }
  /// How often each rung was entered from below.
  const std::array<std::uint64_t, kPressureRungs>& entries() const { return entries_; }

 private:
  /// Whether a rung's own measure asks for its action: on above the upper mark, off at the lower.
  struct Wanted {
    bool park = false;
    bool compress = false;
    bool compact = false;
  };
  void choose_actions(const PressureInput& input);

  PressureOptions options_;
  PressureState state_;
  Wanted wanted_;
  std::array<std::uint64_t, kPressureRungs> entries_{};
};

}  // namespace zerohop

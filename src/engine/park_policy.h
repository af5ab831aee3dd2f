// Who has to make room. An admitted request is never ended for want of room: it is parked (its
// cells stay, or go to host memory) and goes on later. Parking and resuming costs about 6 + 3 µs a
// token, a thousandth of computing it, so it is cheap to be fair; what it must not do is thrash.
//
//   park_for_cells        cells ran out: the one that hurts least
//   park_for_fairness     no sequence is free and somebody waits who was served less
//   park_slow_reader      somebody waits while a running one only waits for its client
//
// Pure functions of their arguments: an index into `running`, or nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/clock.h"
#include "core/tenant.h"

namespace zerohop {

/// A running sequence.
struct ParkCandidate {
  PriorityClass priority = PriorityClass::kStandard;
  TenantId tenant;
  double counter = 0;                          ///< FairQueue::counter()
  TimePoint arrived_at{};                      ///< of the request
  TimePoint started_at{};                      ///< or resumed, whichever was last
  std::optional<TimePoint> paused_since = {};  ///< its reader is too far behind
};

/// The one whose turn it would be (FairQueue::head()).
struct ParkWaiter {
  PriorityClass priority = PriorityClass::kStandard;
  TenantId tenant;
  double counter = 0;
};

struct ParkOptions {
  /// In counter units: tokens by weight. A waiting tenant that is behind by more than this goes on
  /// in the place of a running one. Far below FairQueueOptions::idle_credit, so that somebody who
  /// comes back finds a place at once.
  double quantum = 256;
  /// A sequence that started or went on less than this ago stays; > 0, or two could drive each
  /// other out within one step.
  Duration run_min{std::chrono::milliseconds(100)};
  /// A paused one is parked after this long.
  Duration paused_max{std::chrono::milliseconds(500)};
};

enum class ParkReason : std::uint8_t { kCells, kFairness, kSlowReader };

struct ParkChoice {
  std::size_t index = 0;  ///< in `running`
  ParkReason reason = ParkReason::kCells;
  friend bool operator==(const ParkChoice&, const ParkChoice&) = default;
};

/// A paused one first; then the lowest class, in it the tenant with the highest counter, of its
/// sequences the one that started last. Never the oldest request of the highest class, so that
/// somebody always finishes: nothing where it is alone.
std::optional<ParkChoice> park_for_cells(std::span<const ParkCandidate> running);

/// The one whose place `waiter` should have: of a lower class, or of its class and ahead by more
/// than the quantum; chosen in the order of park_for_cells() (paused ones are no exception here).
/// Only one that has run for run_min. The caller checks with FairQueue::next_without() that the
/// waiter would really get the place.
std::optional<ParkChoice> park_for_fairness(std::span<const ParkCandidate> running,
                                            const ParkWaiter& waiter, const ParkOptions& options,
                                            TimePoint now);

/// The one that has been paused longest, if that is `paused_max` or more. To be called while
/// somebody waits.
std::optional<ParkChoice> park_slow_reader(std::span<const ParkCandidate> running,
                                           Duration paused_max, TimePoint now);

}  // namespace zerohop

#include "engine/park_policy.h"

#include <tuple>

namespace zerohop {
namespace {

// True where parking `a` hurts less than parking `b`.
bool goes_before(const ParkCandidate& a, const ParkCandidate& b) {
  const auto key = [](const ParkCandidate& c) {
    return std::tuple(c.priority, c.counter, c.started_at, c.arrived_at);
  };
  return key(a) > key(b);
}

// The oldest request of the highest class that runs.
std::optional<std::size_t> untouchable(std::span<const ParkCandidate> running) {
  std::optional<std::size_t> oldest;
  const auto key = [&](std::size_t i) {
    return std::tuple(running[i].priority, running[i].arrived_at, i);
  };
  for (std::size_t i = 0; i < running.size(); ++i) {
    if (!oldest || key(i) < key(*oldest)) oldest = i;
  }
  return oldest;
}

template <class Allowed>
std::optional<std::size_t> choose(std::span<const ParkCandidate> running, Allowed allowed) {
  std::optional<std::size_t> chosen;
  for (std::size_t i = 0; i < running.size(); ++i) {
    if (!allowed(i)) continue;
    if (!chosen || goes_before(running[i], running[*chosen])) chosen = i;
  }
  return chosen;
}

std::optional<ParkChoice> choice(std::optional<std::size_t> index, ParkReason reason) {
  if (!index) return std::nullopt;
  return ParkChoice{*index, reason};
}

}  // namespace

std::optional<ParkChoice> park_for_cells(std::span<const ParkCandidate> running) {
  const std::optional<std::size_t> kept = untouchable(running);
  const auto paused = choose(
      running, [&](std::size_t i) { return i != kept && running[i].paused_since.has_value(); });
  if (paused) return choice(paused, ParkReason::kCells);
  return choice(choose(running, [&](std::size_t i) { return i != kept; }), ParkReason::kCells);
}

std::optional<ParkChoice> park_for_fairness(std::span<const ParkCandidate> running,
                                            const ParkWaiter& waiter, const ParkOptions& options,
                                            TimePoint now) {
  const auto gives_way = [&](std::size_t i) {
    const ParkCandidate& candidate = running[i];
    if (now - candidate.started_at < options.run_min) return false;
    if (candidate.priority != waiter.priority) return candidate.priority > waiter.priority;
    return candidate.tenant != waiter.tenant &&
           candidate.counter - waiter.counter > options.quantum;
  };
  return choice(choose(running, gives_way), ParkReason::kFairness);
}

std::optional<ParkChoice> park_slow_reader(std::span<const ParkCandidate> running,
                                           Duration paused_max, TimePoint now) {
  std::optional<std::size_t> chosen;
  for (std::size_t i = 0; i < running.size(); ++i) {
    const std::optional<TimePoint>& since = running[i].paused_since;
    if (!since || now - *since < paused_max) continue;
    if (!chosen || *since < *running[*chosen].paused_since) chosen = i;
  }
  return choice(chosen, ParkReason::kSlowReader);
}

}  // namespace zerohop

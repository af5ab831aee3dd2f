#include "engine/pressure_ladder.h"

#include <algorithm>
#include <optional>

namespace zerohop {
namespace {

/// Wanted above `enter`, held above `leave`.
using Band = PressureBand;

constexpr Band kUsed{0.85, 0.80};
constexpr Band kHost{0.85, 0.80};
constexpr Band kCompact{0.35, 0.30};
constexpr Band kShedCells{0.97, 0.92};
constexpr double kWaitLeave = 0.75;

enum class Edge : std::uint8_t { kEnter, kLeave };

bool above(double value, const Band& band, Edge edge) {
  return value > (edge == Edge::kEnter ? band.enter : band.leave);
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

// Idle cells that can be moved nowhere are a cache and no pressure: whoever needs them has them at
// once, and nothing that a rung does would make them fewer.
double used_share(const PressureInput& in) {
  const std::uint32_t idle = in.host_bytes_max > 0 ? in.cells_parked : 0;
  return ratio(double{1} * in.cells_active + idle + in.cells_reserved, in.cells_total);
}

double host_share(const PressureInput& in) {
  return ratio(static_cast<double>(in.host_bytes), static_cast<double>(in.host_bytes_max));
}

PressureCause cause_of_shedding(const PressureInput& in, const PressureOptions& options,
                                Edge edge) {
  const Duration wait = edge == Edge::kEnter
                            ? options.wait_max
                            : from_seconds(to_seconds(options.wait_max) * kWaitLeave);
  if (in.waiting == 0) return PressureCause::kNone;
  if (in.predicted_wait > wait) return PressureCause::kQueue;
  const bool stuck = edge == Edge::kLeave || in.oldest_wait > options.wait_max;
  const bool full =
      above(promised_share(in.cells_active, in.cells_reserved, in.cells_total), kShedCells, edge);
  return full && stuck ? PressureCause::kKvCells : PressureCause::kNone;
}

// Why `rung` is wanted (or, at the leaving edge, held); kNone where it is not.
PressureCause cause_of(PressureRung rung, const PressureInput& in, const PressureOptions& options,
                       Edge edge) {
  const bool used = above(used_share(in), kUsed, edge);
  switch (rung) {
    case PressureRung::kNormal: break;
    case PressureRung::kParkIdle: return used ? PressureCause::kKvCells : PressureCause::kNone;
    case PressureRung::kCompress:
      return used && above(host_share(in), kHost, edge) ? PressureCause::kHostBytes
                                                        : PressureCause::kNone;
    case PressureRung::kCompact:
      return above(in.fragmentation, kCompact, edge) ? PressureCause::kFragmentation
                                                     : PressureCause::kNone;
    case PressureRung::kSoftMaxTokens:
      if (in.soft_allowed == 0) break;
      if (above(in.fragmentation, kSoftFragmentation, edge)) return PressureCause::kFragmentation;
      return above(promised_share(in.cells_active, in.cells_reserved, in.cells_total), kSoftCells,
                   edge)
                 ? PressureCause::kKvCells
                 : PressureCause::kNone;
    case PressureRung::kShed: return cause_of_shedding(in, options, edge);
  }
  return PressureCause::kNone;
}

struct Wish {
  PressureRung rung = PressureRung::kNormal;
  PressureCause cause = PressureCause::kNone;
};

// The highest rung for which there is a cause.
Wish highest(const PressureInput& in, const PressureOptions& options, Edge edge) {
  for (std::uint8_t rung = kPressureRungs - 1; rung > 0; --rung) {
    const PressureCause cause = cause_of(PressureRung{rung}, in, options, edge);
    if (cause != PressureCause::kNone) return {PressureRung{rung}, cause};
  }
  return {};
}

PressureRung next_to(PressureRung rung, int step) {
  return PressureRung{static_cast<std::uint8_t>(static_cast<int>(rung) + step)};
}

// What exceeds the share at which a rung is left: less would keep the engine on it.
template <class Integer>
Integer excess(Integer amount, Integer whole, double share) {
  const double limit = static_cast<double>(whole) * share;
  const double value = static_cast<double>(amount);
  return value > limit ? static_cast<Integer>(value - limit) + 1 : Integer{0};
}

}  // namespace

double promised_share(std::uint64_t active, std::uint64_t reserved, std::uint64_t total) {
  return ratio(static_cast<double>(active + reserved), static_cast<double>(total));
}

void PressureLadder::choose_actions(const PressureInput& in) {
  const auto edge = [](bool on) { return on ? Edge::kLeave : Edge::kEnter; };
  const bool host = in.host_bytes_max > 0;
  wanted_.park = host && above(used_share(in), kUsed, edge(wanted_.park));
  wanted_.compress = host && above(used_share(in), kUsed, edge(wanted_.compress)) &&
                     above(host_share(in), kHost, edge(wanted_.compress));
  wanted_.compact = above(in.fragmentation, kCompact, edge(wanted_.compact));

  state_.cells_to_park = 0;
  state_.bytes_to_compress = 0;
  if (wanted_.park && state_.rung >= PressureRung::kParkIdle) {
    const std::uint64_t used = std::uint64_t{in.cells_active} + in.cells_parked + in.cells_reserved;
    const std::uint64_t over = excess<std::uint64_t>(used, in.cells_total, kUsed.leave);
    state_.cells_to_park =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(over, in.cells_parked));
  }
  if (wanted_.compress && state_.rung >= PressureRung::kCompress) {
    state_.bytes_to_compress = excess(in.host_bytes, in.host_bytes_max, kHost.leave);
  }
  state_.compact = wanted_.compact && state_.rung >= PressureRung::kCompact;
  state_.soft_max_tokens = state_.rung >= PressureRung::kSoftMaxTokens;
  state_.shed = state_.rung >= PressureRung::kShed;
}

const PressureState& PressureLadder::update(const PressureInput& input, TimePoint now) {
  const Wish wanted = highest(input, options_, Edge::kEnter);
  const Wish held = highest(input, options_, Edge::kLeave);
  if (wanted.rung > state_.rung) {
    state_.rung = next_to(state_.rung, 1);
    state_.cause = wanted.cause;
    state_.since = now;
    ++entries_[static_cast<std::size_t>(state_.rung)];
  } else if (held.rung < state_.rung && now - state_.since >= options_.dwell_min) {
    state_.rung = next_to(state_.rung, -1);
    state_.since = now;
    if (state_.rung == PressureRung::kNormal) state_.cause = PressureCause::kNone;
  } else if (held.rung >= state_.rung && state_.rung != PressureRung::kNormal) {
    state_.cause = held.cause;
  }
  choose_actions(input);
  return state_;
}

}  // namespace zerohop

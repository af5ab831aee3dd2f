#include "engine/soft_limit.h"

#include <algorithm>
#include <cmath>

#include "engine/pressure_ladder.h"

namespace zerohop {
namespace {

// The curve is a line through (leave, 1) and (enter, 0.87), cut at 0.75.
constexpr double kShareAtEnter = 0.87;
constexpr double kShareMin = 0.75;

double line(double value, const PressureBand& band) {
  const double slope = (1.0 - kShareAtEnter) / (band.enter - band.leave);
  return std::clamp(1.0 - slope * (value - band.leave), kShareMin, 1.0);
}

}  // namespace

double soft_limit_share(const SoftPressure& pressure) {
  return std::min(line(pressure.fragmentation, kSoftFragmentation),
                  line(pressure.promised, kSoftCells));
}

std::uint32_t soft_max_tokens(std::uint32_t longest, const SoftPressure& pressure) {
  // Rounded up, so that the promise of three quarters holds for short answers, too. What is a whole
  // number but for the last bits of the arithmetic stays one.
  return static_cast<std::uint32_t>(std::ceil(longest * soft_limit_share(pressure) - 1e-6));
}

std::uint32_t recommended_max_tokens(const AnswerRoom& room) {
  const std::uint64_t taken =
      std::uint64_t{room.cells_active} + room.cells_reserved + room.prompt_tokens;
  if (taken >= room.cells_total) return 0;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(room.cells_total - taken, room.max_tokens));
}

}  // namespace zerohop

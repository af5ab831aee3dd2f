#include "engine/soft_limit.h"

#include <algorithm>
#include <cmath>

namespace zerohop {
namespace {

// The curve is a line through (begin, 1) and (begin + 0.05, 0.87), cut at 0.75.
constexpr double kFragmentationBegin = 0.35;
constexpr double kPromisedBegin = 0.87;
constexpr double kSlope = (1.0 - 0.87) / 0.05;
constexpr double kShareMin = 0.75;

double line(double value, double begin) {
  return std::clamp(1.0 - kSlope * (value - begin), kShareMin, 1.0);
}

}  // namespace

double soft_limit_share(const SoftPressure& pressure) {
  return std::min(line(pressure.fragmentation, kFragmentationBegin),
                  line(pressure.promised, kPromisedBegin));
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

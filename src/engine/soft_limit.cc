#include "engine/soft_limit.h"

#include <algorithm>
#include <cmath>

namespace zerohop {
namespace {

// The curve is a line through (0.35, 1) and (0.40, 0.87), cut at both ends.
constexpr double kBegin = 0.35;
constexpr double kSlope = (1.0 - 0.87) / (0.40 - 0.35);
constexpr double kShareMin = 0.75;

}  // namespace

double soft_limit_share(double fragmentation) {
  return std::clamp(1.0 - kSlope * (fragmentation - kBegin), kShareMin, 1.0);
}

std::uint32_t soft_max_tokens(std::uint32_t max_tokens, double fragmentation) {
  // Rounded up, so that the promise of three quarters holds for short answers, too. What is a whole
  // number but for the last bits of the arithmetic stays one.
  return static_cast<std::uint32_t>(std::ceil(max_tokens * soft_limit_share(fragmentation) - 1e-6));
}

std::uint32_t recommended_max_tokens(const AnswerRoom& room) {
  const std::uint64_t taken =
      std::uint64_t{room.cells_active} + room.cells_reserved + room.prompt_tokens;
  if (taken >= room.cells_total) return 0;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(room.cells_total - taken, room.max_tokens));
}

}  // namespace zerohop

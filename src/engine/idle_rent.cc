#include "engine/idle_rent.h"

#include <algorithm>

namespace zerohop {
namespace {

constexpr double kMovePriceMin = 1e-9;

std::uint32_t paying(std::uint32_t idle) { return idle - std::min(idle, IdleRent::kFreeCells); }

}  // namespace

void IdleRent::charge(std::uint32_t rows, std::uint32_t idle, double price) {
  const std::uint32_t cells = paying(idle);
  paid_ = cells == 0 ? 0 : paid_ + price * rows * cells;
}

std::uint32_t IdleRent::due(std::uint32_t idle, double move_price) const {
  const std::uint32_t most = paying(idle);
  const double paid_for = paid_ / std::max(move_price, kMovePriceMin);
  const double cells = std::min(paid_for, static_cast<double>(most));
  if (most == 0 || cells < std::min(most, kMoveMin)) return 0;
  return static_cast<std::uint32_t>(cells);
}

void IdleRent::moved(std::uint32_t cells, double move_price) {
  paid_ = cells == 0 ? 0 : std::max(0.0, paid_ - cells * move_price);
}

}  // namespace zerohop

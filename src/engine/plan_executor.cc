#include "engine/plan_executor.h"

#include <limits>

namespace zerohop {
namespace {

constexpr std::int32_t kEverything = std::numeric_limits<std::int32_t>::max();

}  // namespace

bool drop_tail(ModelContext& context, const DropTail& op) {
  if (context.remove(op.slot, {op.from, kEverything})) return true;
  context.remove(op.slot, {0, kEverything});
  return false;
}

void drop_cells(ModelContext& context, const CachePlan& plan) {
  for (const CacheOp& op : plan) {
    const auto* drop = std::get_if<DropTail>(&op);
    ZH_CHECK(drop != nullptr);
    drop_tail(context, *drop);
  }
}

std::int32_t execute_placement(ModelContext& context, const Placement& placement) {
  std::int32_t held = placement.tokens_reused;
  for (const CacheOp& op : placement.plan) {
    if (const auto* drop = std::get_if<DropTail>(&op)) {
      if (!drop_tail(context, *drop) && drop->slot == placement.slot) held = 0;
    } else {
      const auto& share = std::get<ShareHead>(op);
      if (!context.copy(share.from, share.to, {0, share.length})) held = 0;
    }
  }
  // The last word is the model's: what it does not hold from position 0 on cannot be built upon.
  const PositionRange there = context.positions(placement.slot);
  if (held > 0 && there != PositionRange{0, held}) {
    drop_tail(context, {placement.slot, 0});
    held = 0;
  }
  return held;
}

}  // namespace zerohop

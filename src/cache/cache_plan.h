// What the cache wants done to the model's cells. The cache decides and never calls the model; the
// engine carries a plan out through model/ and reports what became of it.
#pragma once

#include <variant>
#include <vector>

#include "core/token.h"

namespace zerohop {

/// Free the cells of `slot` at positions [from, ∞).
struct DropTail {
  SlotId slot;
  std::int32_t from = 0;
  friend bool operator==(const DropTail&, const DropTail&) = default;
};

/// Let the empty slot `to` hold positions [0, length) of `from` as well (cells are shared).
struct ShareHead {
  SlotId from;
  SlotId to;
  std::int32_t length = 0;
  friend bool operator==(const ShareHead&, const ShareHead&) = default;
};

using CacheOp = std::variant<DropTail, ShareHead>;

/// Carried out in order.
using CachePlan = std::vector<CacheOp>;

}  // namespace zerohop

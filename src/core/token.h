// Tokens, slots and positions: the integers that the model library deals in.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/strong_id.h"

namespace zerohop {

using Token = std::int32_t;
using TokenSpan = std::span<const Token>;

struct SlotTag;
/// A sequence id inside one context: 0 ≤ value < sequences of the context.
using SlotId = StrongId<SlotTag, std::int32_t>;

/// Positions [begin, end) of one sequence. Position 0 is the first token of its prompt.
struct PositionRange {
  std::int32_t begin = 0;
  std::int32_t end = 0;

  std::int32_t size() const { return end - begin; }
  bool empty() const { return end <= begin; }
  friend bool operator==(const PositionRange&, const PositionRange&) = default;
};

}  // namespace zerohop

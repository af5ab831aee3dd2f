// Small things that several tests of the engine need. Test code only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "model/model.h"

namespace zerohop {

/// So many small letters, others for each seed.
inline std::string prompt_of(std::size_t bytes, std::uint64_t seed) {
  Random random(seed);
  std::string text;
  while (text.size() < bytes) text.push_back(static_cast<char>('a' + random.below(26)));
  return text;
}

/// How many slots the rows of a batch belong to.
inline std::size_t slots_in(std::span<const BatchRow> rows) {
  std::vector<SlotId> slots;
  for (const BatchRow& row : rows) slots.push_back(row.slot);
  std::sort(slots.begin(), slots.end());
  return static_cast<std::size_t>(std::unique(slots.begin(), slots.end()) - slots.begin());
}

/// Of two vectors of length one.
inline double cosine(const std::vector<float>& left, const std::vector<float>& right) {
  double product = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    product += static_cast<double>(left[i]) * static_cast<double>(right[i]);
  }
  return product;
}

}  // namespace zerohop

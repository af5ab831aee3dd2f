#include "engine/answer_lengths.h"

#include <algorithm>

namespace zerohop {

void AnswerLengths::add(std::uint32_t tokens) {
  last_[count_ % kRemembered] = tokens;
  ++count_;
  if (count_ < kNeeded) return;
  const auto known = static_cast<std::ptrdiff_t>(std::min(count_, kRemembered));
  std::array<std::uint32_t, kRemembered> sorted = last_;
  const auto tenth = sorted.begin() + known / 10;
  std::nth_element(sorted.begin(), tenth, sorted.begin() + known);
  least_ = *tenth;
}

}  // namespace zerohop

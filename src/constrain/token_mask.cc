#include "constrain/token_mask.h"

#include <algorithm>
#include <utility>

namespace zerohop {

bool TokenMask::allows(Token token) const {
  if (token < 0) return false;
  if (sparse()) return std::binary_search(ids.begin(), ids.end(), token);
  const auto index = static_cast<std::size_t>(token);
  return index / 64 < bits.size() && (bits[index / 64] >> (index % 64) & 1) != 0;
}

std::size_t TokenMask::count() const {
  std::size_t count = ids.size();
  for (const std::uint64_t word : bits) count += static_cast<std::size_t>(std::popcount(word));
  return count;
}

void MaskBuilder::spread() {
  mask_.bits.assign((width_ + 63) / 64, 0);
  for (const Token token : std::exchange(mask_.ids, {})) add(token);
}

void MaskBuilder::add(const TokenMask& mask) {
  if (mask.sparse()) {
    for (const Token token : mask.ids) add(token);
    return;
  }
  if (mask_.bits.empty()) spread();
  for (std::size_t i = 0; i < mask.bits.size(); ++i) mask_.bits[i] |= mask.bits[i];
}

bool MaskBuilder::few_bits() const {
  std::size_t count = 0;
  for (const std::uint64_t word : mask_.bits) {
    if (word == 0) continue;
    count += static_cast<std::size_t>(std::popcount(word));
    if (count > sparse_max()) return false;
  }
  return true;
}

TokenMask MaskBuilder::take() {
  std::sort(mask_.ids.begin(), mask_.ids.end());
  mask_.ids.erase(std::unique(mask_.ids.begin(), mask_.ids.end()), mask_.ids.end());
  if (mask_.ids.size() > sparse_max()) spread();
  if (!mask_.bits.empty() && few_bits()) {
    TokenMask list;
    mask_.for_each([&](Token token) { list.ids.push_back(token); });
    mask_ = std::move(list);
  }
  return std::exchange(mask_, {});
}

}  // namespace zerohop

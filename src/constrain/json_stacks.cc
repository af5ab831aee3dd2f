#include "constrain/json_stacks.h"

#include <algorithm>

#include "base/check.h"

namespace zerohop {

StackId JsonStacks::intern(StackId outside, std::uint32_t depth, StackLevel& level) {
  std::vector<StackLevel::Pair>& pairs = level.pairs_;
  ZH_CHECK(!pairs.empty());
  if (pairs.size() > 1) {
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  }
  std::uint64_t hash = hash_more(outside, depth);
  for (const StackLevel::Pair& pair : pairs) {
    hash = hash_more(hash, static_cast<std::uint64_t>(pair.progress) << 32 | pair.link.outer);
    hash = hash_more(hash, pair.link.hits);
  }
  Stack wanted{outside, depth, static_cast<std::uint32_t>(entries_.size()), 0};
  const std::uint32_t found =
      index_.find(hash, [&](std::uint32_t id) { return same(id, wanted, pairs); });
  if (found != HashIndex::kNone) {
    pairs.clear();
    return found;
  }
  const auto id = static_cast<StackId>(stacks_.size());
  for (const StackLevel::Pair& pair : pairs) {
    if (wanted.entries == 0 || entries_.back().progress != pair.progress) {
      entries_.push_back({pair.progress, static_cast<std::uint32_t>(links_.size()), 0});
      ++wanted.entries;
    }
    links_.push_back(pair.link);
    ++entries_.back().links;
  }
  stacks_.push_back(wanted);
  index_.insert(hash, id);
  pairs.clear();
  return id;
}

bool JsonStacks::same(StackId stack, const Stack& wanted,
                      const std::vector<StackLevel::Pair>& pairs) const {
  if (stacks_[stack].outside != wanted.outside || stacks_[stack].depth != wanted.depth) {
    return false;
  }
  std::size_t i = 0;
  for (const StackEntry& entry : entries(stack)) {
    for (const StackLink& link : links(entry)) {
      if (i == pairs.size() || pairs[i].progress != entry.progress || pairs[i].link != link) {
        return false;
      }
      ++i;
    }
  }
  return i == pairs.size();
}

std::size_t JsonStacks::memory_bytes() const {
  return stacks_.capacity() * sizeof(Stack) + entries_.capacity() * sizeof(StackEntry) +
         links_.capacity() * sizeof(StackLink) + index_.memory_bytes();
}

}  // namespace zerohop

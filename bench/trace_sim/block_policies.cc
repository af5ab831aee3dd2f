#include "trace_sim/block_policies.h"

#include <limits>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace zerohop::trace_sim {
namespace {

// Blocks in the order in which they go, the first of them first. A smaller key goes earlier; of one
// request's blocks, the last one does.
class OrderedBlocks {
 public:
  bool holds(std::uint32_t block) const { return keys_.contains(block); }
  std::size_t size() const { return keys_.size(); }

  void put(std::uint32_t block, std::int64_t key, std::size_t depth) {
    const auto found = keys_.find(block);
    if (found != keys_.end()) order_.erase({found->second, block});
    const Key entry{key, -static_cast<std::int64_t>(depth)};
    keys_[block] = entry;
    order_.insert({entry, block});
  }

  void drop_first() {
    const auto first = order_.begin();
    keys_.erase(first->second);
    order_.erase(first);
  }

 private:
  using Key = std::pair<std::int64_t, std::int64_t>;
  std::unordered_map<std::uint32_t, Key> keys_;
  std::set<std::pair<Key, std::uint32_t>> order_;
};

// `key_of(block, time)` tells what a block that was just used goes by.
template <class KeyOf>
std::uint64_t hits(const BlockTrace& trace, std::uint64_t capacity, KeyOf key_of) {
  OrderedBlocks cached;
  std::uint64_t found = 0;
  for (std::size_t time = 0; time < trace.size(); ++time) {
    const std::vector<std::uint32_t>& blocks = trace[time].blocks;
    for (const std::uint32_t block : blocks) {
      if (!cached.holds(block)) break;
      ++found;
    }
    for (std::size_t depth = 0; depth < blocks.size(); ++depth) {
      cached.put(blocks[depth], key_of(blocks[depth], time), depth);
    }
    while (cached.size() > capacity) cached.drop_first();
  }
  return found;
}

}  // namespace

TraceSize measure(const BlockTrace& trace) {
  TraceSize size;
  std::unordered_set<std::uint32_t> seen;
  for (const BlockRequest& request : trace) {
    size.blocks += request.blocks.size();
    for (const std::uint32_t block : request.blocks) {
      if (!seen.contains(block)) break;
      ++size.ceiling;
    }
    seen.insert(request.blocks.begin(), request.blocks.end());
  }
  size.distinct = seen.size();
  return size;
}

std::uint64_t recency_hits(const BlockTrace& trace, std::uint64_t capacity_blocks) {
  return hits(trace, capacity_blocks,
              [](std::uint32_t, std::size_t time) { return static_cast<std::int64_t>(time); });
}

std::uint64_t optimum_hits(const BlockTrace& trace, std::uint64_t capacity_blocks) {
  std::unordered_map<std::uint32_t, std::vector<std::int64_t>> uses;  // the next one last
  for (std::size_t time = trace.size(); time-- > 0;) {
    for (const std::uint32_t block : trace[time].blocks) {
      uses[block].push_back(static_cast<std::int64_t>(time));
    }
  }
  return hits(trace, capacity_blocks, [&](std::uint32_t block, std::size_t) {
    std::vector<std::int64_t>& left = uses[block];
    left.pop_back();
    // Later uses go first, so the key is the negative time.
    return left.empty() ? std::numeric_limits<std::int64_t>::min() : -left.back();
  });
}

}  // namespace zerohop::trace_sim

// What the tests of the prefix cache have in common: layouts, texts, and a cache whose books are
// checked after each operation.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "cache/prefix_cache.h"

namespace zerohop::prefix_cache_test {

inline constexpr std::uint64_t kBytesPerCell = 10;

inline KvCapabilities pool(std::uint32_t slots, std::uint32_t sequences, std::uint32_t cells) {
  KvCapabilities capabilities;
  capabilities.slots = slots;
  capabilities.sequences = sequences;
  capabilities.slot_cells = cells;
  capabilities.cells = cells;
  capabilities.pooled = true;
  capabilities.can_share_range = true;
  capabilities.can_save_range = true;
  capabilities.bytes_per_cell = kBytesPerCell;
  return capabilities;
}

inline KvCapabilities streams(std::uint32_t slots, std::uint32_t window) {
  KvCapabilities capabilities;
  capabilities.slots = capabilities.sequences = slots;
  capabilities.slot_cells = window;
  capabilities.cells = slots * window;
  capabilities.dense_slots_matter = true;
  capabilities.bytes_per_cell = kBytesPerCell;
  return capabilities;
}

inline KvCapabilities without_cuts(std::uint32_t slots, std::uint32_t window) {
  KvCapabilities capabilities = streams(slots, window);
  capabilities.can_cut_tail = false;
  return capabilities;
}

inline PrefixCacheOptions host_tier(std::uint64_t tokens, std::uint32_t entries = 0) {
  PrefixCacheOptions options;
  options.host_bytes_max = tokens * kBytesPerCell;
  options.host_entries_max = entries;
  return options;
}

// `count` tokens that no other `seed` gives.
inline std::vector<Token> text(Token seed, std::size_t count) {
  std::vector<Token> tokens(count);
  for (std::size_t i = 0; i < count; ++i) tokens[i] = seed * 100000 + static_cast<Token>(i);
  return tokens;
}

inline std::vector<Token> operator+(std::vector<Token> a, const std::vector<Token>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline SlotId slot(std::int32_t value) { return SlotId(value); }

template <class Op>
std::vector<Op> ops(const CachePlan& plan) {
  std::vector<Op> found;
  for (const CacheOp& op : plan) {
    if (const auto* one = std::get_if<Op>(&op)) found.push_back(*one);
  }
  return found;
}

struct Wish {
  std::uint32_t ahead = 0;
  ScopeId scope = kPublicScope;
  std::uint32_t marked = 0;
  Duration lifetime{};
  std::uint64_t affinity = 0;
};

// A cache whose books are checked after each operation.
class Cache {
 public:
  explicit Cache(const KvCapabilities& capabilities, const PrefixCacheOptions& options = {})
      : cache_(capabilities, options) {}

  PrefixCache* operator->() { return &cache_; }

  PlaceResult place(const std::vector<Token>& prompt, const Wish& wish = {}) {
    PlaceRequest request;
    request.tokens = prompt;
    request.cells_ahead = wish.ahead;
    request.scope = wish.scope;
    request.marked_tokens = wish.marked;
    request.mark_lifetime = wish.lifetime;
    request.affinity = wish.affinity;
    request.now = now;
    PlaceResult result = cache_.place(request);
    cache_.check_integrity();
    return result;
  }

  // Places and computes what is missing.
  Placement start(const std::vector<Token>& prompt, const Wish& wish = {}) {
    const PlaceResult result = place(prompt, wish);
    EXPECT_TRUE(result.placement.has_value());
    if (!result.placement) return {};
    grow(result.placement->slot, {prompt.begin() + result.placement->tokens_reused, prompt.end()});
    return *result.placement;
  }

  void grow(SlotId id, const std::vector<Token>& tokens) {
    cache_.grow(id, tokens, now);
    cache_.check_integrity();
  }

  CachePlan release(SlotId id, Keep keep = Keep::kCells) {
    CachePlan plan = cache_.release(id, keep, now);
    cache_.check_integrity();
    return plan;
  }

  // A whole request; the slot it had.
  SlotId run(const std::vector<Token>& prompt, const Wish& wish = {}) {
    const Placement placement = start(prompt, wish);
    release(placement.slot);
    return placement.slot;
  }

  std::int32_t found(const std::vector<Token>& tokens, ScopeId scope = kPublicScope) const {
    return cache_.match(scope, tokens).tokens;
  }
  std::int32_t found_in_cells(const std::vector<Token>& tokens) const {
    return cache_.match(kPublicScope, tokens).device_tokens;
  }

  TimePoint now{};

 private:
  PrefixCache cache_;
};

}  // namespace zerohop::prefix_cache_test

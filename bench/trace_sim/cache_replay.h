// A Mooncake trace through the real PrefixCache.
//
// Each block becomes a run of `tokens_per_block` tokens of its own, so equal ids are equal tokens,
// and cells are counted in the same measure. One request runs at a time: place, grow, release, as
// the engine does it with one sequence. Answers are computed and then dropped, because the trace
// does not tell which block of a later prompt holds them. Pure.
#pragma once

#include <array>
#include <cstdint>

#include "cache/prefix_cache.h"
#include "trace_sim/trace.h"

namespace zerohop::trace_sim {

struct CacheReplayOptions {
  std::uint64_t capacity_blocks = 0;  ///< a longer prompt is a miss and is not kept
  std::uint32_t tokens_per_block = 64;
  std::uint32_t slots = 0;  ///< that may hold prefixes; 0: twice what as much room needs on average
  EvictionOrder order = EvictionOrder::kExpectedReuse;
};

struct CacheReplay {
  double hit_blocks = 0;  ///< tokens that were found ÷ tokens_per_block
  std::uint64_t requests_refused = 0;
  /// Requests that found less than an unlimited cache would have had, by what dropped it last.
  std::array<std::uint64_t, 6> misses_by_cap{};
};

CacheReplay replay(const BlockTrace& trace, const CacheReplayOptions& options);

}  // namespace zerohop::trace_sim

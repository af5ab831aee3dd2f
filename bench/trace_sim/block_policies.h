// What a cache of so many blocks could reach on a Mooncake trace: without limit, by plain recency,
// and with knowledge of the future. Exact, by block, each in a few lines of its own: what the real
// cache is held against.
//
// A hit is a block of a request's longest cached prefix. A block leaves only after those behind it.
// Pure functions.
#pragma once

#include <cstdint>

#include "trace_sim/trace.h"

namespace zerohop::trace_sim {

struct TraceSize {
  std::uint64_t blocks = 0;    ///< of all prompts
  std::uint64_t distinct = 0;  ///< the working set
  std::uint64_t ceiling = 0;   ///< hits of a cache without limit
};

TraceSize measure(const BlockTrace& trace);

/// Hits when the block that was used least recently goes.
std::uint64_t recency_hits(const BlockTrace& trace, std::uint64_t capacity_blocks);

/// Hits when the block that will be used last, or never, goes (Belady 1966): no policy has more.
std::uint64_t optimum_hits(const BlockTrace& trace, std::uint64_t capacity_blocks);

}  // namespace zerohop::trace_sim

// What the simulator tells: tables for people and for docs/measurements. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "trace_sim/engine_replay.h"
#include "trace_sim/markdown.h"
#include "trace_sim/trace.h"

namespace zerohop::trace_sim {

/// One size of the cache: so many blocks, or that share of all different ones.
struct CacheSize {
  std::uint64_t blocks = 0;  ///< 0: `share` counts
  double share = 0;
};

struct CacheReportOptions {
  std::vector<CacheSize> sizes = {{0, 0.05}, {0, 0.2}, {0, 0.8}};
  std::uint32_t tokens_per_block = 64;
  std::uint32_t slots = 0;  ///< 0: enough
};

/// Hits by size and policy, as shares of those of a cache without limit.
std::string cache_report(const BlockTrace& trace, const CacheReportOptions& options);

struct Objectives {
  double first_token_seconds = 5;  ///< at most
  double gap_seconds = 0.25;       ///< longest time between two tokens, at most
};

struct LoadReportOptions {
  EngineReplayOptions engine;
  std::vector<double> loads = {0.5, 1, 1.5, 2.2, 3};  ///< of what can be served
  Objectives objectives;
};

struct LoadReport {
  std::string text;
  Chart chart;  ///< the lighter half's median time to first token; empty without clients
};

/// Throughput, times to first token and goodput at each load; where the trace names clients, by
/// order of service, and for the lighter half of them against running alone.
LoadReport load_report(const LengthTrace& trace, const LoadReportOptions& options);

}  // namespace zerohop::trace_sim

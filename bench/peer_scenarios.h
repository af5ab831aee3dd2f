// The scenarios of `./dev bench peer`: the same load on both servers, one after the other in each
// round. Each prints and notes what it found.
#pragma once

#include <vector>

#include "child_server.h"
#include "comparison.h"
#include "program_words.h"

namespace zerohop::bench {

struct PeerBench {
  Programs programs;
  std::vector<Side> sides;  ///< in the order in which a round measures them
  int rounds = 1;
  const ProgramWords& words;  ///< flags of single scenarios
  Comparison& report;
};

/// Conversations that share a long system prompt, twice as many as there is room for.
void bench_sessions(const PeerBench& bench);

/// Running streams while a long prompt arrives.
void bench_gap(const PeerBench& bench);

/// A short request right behind one whose client has gone; what is computed for clients that left.
void bench_cancel(const PeerBench& bench);

/// A one-token answer behind a long system prompt that is cached, and behind a short one.
void bench_prefix(const PeerBench& bench);

/// A system prompt that carries the time of day.
void bench_time_stamp(const PeerBench& bench);

/// Running streams while another process takes a core for a while.
void bench_neighbour(const PeerBench& bench);

/// A short request, so that nothing measured is the first of its process.
void warm_up(const ChildServer& server);

}  // namespace zerohop::bench

// Answers of one token behind a long cached system prompt and behind a short one, in turn.
//
// Two processes of the same server, one for each, because in a shared pool of cells every step
// scans the long prompt as well.
#pragma once

#include <vector>

#include "chat_load.h"
#include "child_server.h"

namespace zerohop::bench {

/// One of the two kinds of request.
struct PrefixSeries {
  std::vector<double> milliseconds;
  ChatBody last;            ///< the last request
  int computed_tokens = 0;  ///< of its prompt
};

struct PrefixTimes {
  PrefixSeries warm;   ///< behind 1,000 tokens
  PrefixSeries brief;  ///< behind 2
};

/// `pairs` of each, every question of 12 tokens new.
PrefixTimes measure_prefix(const Programs& programs, Side side, int pairs);

}  // namespace zerohop::bench

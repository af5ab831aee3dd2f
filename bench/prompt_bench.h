// What the dialect and the prompt stage cost for a conversation that the server has seen before,
// all but its last turn.
#pragma once

#include "app/tier.h"

namespace zerohop::bench {

/// Prints the median time from the bytes of a body to tokens: 20 turns, 6,000 tokens in all, of
/// which only the last turn is new; and beside it the bare tokenising of the whole prompt.
void bench_prompt(const Tier& tier);

}  // namespace zerohop::bench

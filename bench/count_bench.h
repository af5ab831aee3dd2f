// How many count_tokens requests of 1 kB the server answers, beside the bare tokenizer.
#pragma once

#include <cstdint>

#include "app/tier.h"

namespace zerohop::bench {

/// Prints requests per second for texts that the server has seen before and for fresh ones, the
/// load generator running on the same cores, and what the bare tokenizer does to the same fresh
/// texts on as many threads as there are cores.
void bench_count(std::uint16_t port, const Tier& tier);

}  // namespace zerohop::bench

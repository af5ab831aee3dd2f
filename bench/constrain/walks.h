// Texts that a constraint allows: its shortest one, and random ones that look like what models
// write. The same for the same seed.
#pragma once

#include <cstdint>
#include <string>

#include "constrain/constraint_machine.h"

namespace zerohop::bench {

/// Walks some `bytes` bytes at random, letters before other bytes, then ends the shortest way.
std::string random_walk(ConstraintMachine& machine, std::uint64_t seed, std::size_t bytes);

}  // namespace zerohop::bench

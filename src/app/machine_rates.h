// How fast this machine reads memory and multiplies matrices, measured in a moment: what bounds
// every model on it (decode by the first, prefill by the second). Any thread; it uses the cores
// that it is given, so it is done while nothing else is.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace zerohop {

struct MachineRates {
  double read_bytes_per_second = 0;    ///< from memory, all threads together; 0: not measured
  double matrix_flops_per_second = 0;  ///< Q8_0 weights by f32 rows, as in prefill; 0: likewise
};

/// Takes a tenth of a second or two, and at most an eighth of the free memory for that long.
/// `threads`: at least 1; more than 32 are not used. The first call of a process loads the
/// library's back ends (llama_backend.h).
MachineRates measure_machine_rates(const Clock& clock, std::uint32_t threads);

}  // namespace zerohop

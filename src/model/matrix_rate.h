// How fast the processor multiplies matrices as prefill does, measured in a moment: what bounds the
// prefill of every model on it. Any thread; it uses the cores that it is given, so it is done while
// nothing else is.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace zerohop {

/// In floating point operations a second: Q8_0 weights by f32 rows. 0: it could not be measured.
/// Takes some tens of milliseconds. `threads`: at least 1. The first call of a process loads the
/// library's back ends (llama_backend.h).
double measure_matrix_rate(const Clock& clock, std::uint32_t threads);

}  // namespace zerohop

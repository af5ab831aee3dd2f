// Overwriting what is no longer needed of a secret. Any thread.
#pragma once

#include <cstddef>

namespace zerohop {

/// Zeros that no optimiser leaves out.
void wipe_bytes(void* bytes, std::size_t count);

}  // namespace zerohop

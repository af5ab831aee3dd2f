// What this process may use of the machine: its cores and its memory, as limited by affinity,
// cgroup and `ulimit -v`. Reads the kernel's files; any thread, at any time.
#pragma once

#include <cstdint>
#include <string>

namespace zerohop {

/// The affinity mask, lowered to the CPU quota of the cgroup. At least 1.
std::uint32_t usable_cores();

/// Memory that can be taken without swapping, lowered to what the cgroup and `ulimit -v` have left.
/// Read anew at each call.
std::uint64_t free_memory_bytes();

/// The processor as its maker names it; "unknown" where the kernel does not say.
std::string processor_name();

}  // namespace zerohop

// What this process may use of the machine: its cores and its memory, as limited by affinity,
// cgroup and `ulimit -v`. Reads the kernel's files; any thread, at any time.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>

namespace zerohop {

/// The affinity mask, lowered to the CPU quota of the cgroup. At least 1.
std::uint32_t usable_cores();

/// Memory that can be taken without swapping, lowered to what the cgroup and `ulimit -v` have left.
/// Read anew at each call.
std::uint64_t free_memory_bytes();

/// From now on this process may have as many files open as the hard limit says. Returns that.
std::uint64_t allow_open_files();

/// How many processes of this cgroup the kernel has killed for want of memory; nothing where the
/// cgroup does not count them. A few microseconds.
std::optional<std::uint64_t> cgroup_oom_kills();
/// Of the text of a `memory.events` (cgroup v2).
std::optional<std::uint64_t> oom_kills_in(std::istream& events);

/// The processor as its maker names it; "unknown" where the kernel does not say.
std::string processor_name();

}  // namespace zerohop

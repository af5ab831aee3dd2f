// What the operating system writes of this process when it crashes. The memory of a server holds
// keys and prompts, so by default that is nothing.
#pragma once

#include <system_error>

namespace zerohop {

/// From now on, and in child processes, no core file is written or handed to a crash reporter, and
/// other processes of the same user cannot read this one's memory. Cannot be undone. Main thread,
/// before there are secrets.
std::error_code forbid_core_dumps();

}  // namespace zerohop

// What the operating system says about the memory of a process.
#pragma once

#include <sys/types.h>

namespace zerohop::bench {

struct ProcessUse {
  double resident_mib = 0;
  double resident_peak_mib = 0;
  double address_space_mib = 0;
};

/// Of any process, this one included. All zero when there is no such process.
ProcessUse process_use(pid_t pid);

}  // namespace zerohop::bench

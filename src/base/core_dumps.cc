#include "base/core_dumps.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <cerrno>

namespace zerohop {

// Both: a pipe in core_pattern (systemd-coredump, apport) gets a dump whatever the limit, but not
// of a process that is not dumpable; that mark is lost with an exec, the limit is not.
std::error_code forbid_core_dumps() {
  const rlimit none{0, 0};
  if (::setrlimit(RLIMIT_CORE, &none) != 0 || ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
    return {errno, std::generic_category()};
  }
  return {};
}

}  // namespace zerohop

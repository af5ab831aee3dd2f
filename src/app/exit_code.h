// How the program ends: exit codes and the one line that says why. Main thread.
#pragma once

#include "core/error.h"

namespace zerohop {

inline constexpr int kExitOk = 0;
inline constexpr int kExitOther = 1;
inline constexpr int kExitUsage = 2;  ///< configuration or command line
inline constexpr int kExitModel = 3;
inline constexpr int kExitAddressInUse = 4;

int exit_code(const Error& error);

/// Prints `zerohop: <message>` as one line on standard error and returns the exit code.
int report_failure(const Error& error);

}  // namespace zerohop

#include "app/exit_code.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "app/terminal_text.h"

namespace zerohop {

int exit_code(const Error& error) {
  switch (error.code) {
    case ErrorCode::kConfiguration:
    case ErrorCode::kInvalidRequest: return kExitUsage;
    case ErrorCode::kModelUnavailable:
    case ErrorCode::kModelFailure: return kExitModel;
    case ErrorCode::kAddressInUse: return kExitAddressInUse;
    default: return kExitOther;
  }
}

int report_failure(const Error& error) {
  std::string line = terminal_text("zerohop: " + error.message);
  std::ranges::replace(line, '\n', ' ');
  line.push_back('\n');
  std::fputs(line.c_str(), stderr);
  return exit_code(error);
}

}  // namespace zerohop

// `zerohop check-config`.
#include <iostream>

#include "app/commands.h"
#include "app/config_text.h"
#include "app/exit_code.h"

namespace zerohop {

int run_check_config(const Result<LoadedConfig>& loaded) {
  if (!loaded.ok()) return report_failure(loaded.error());
  std::cout << effective_config_text(*loaded) << std::flush;
  return std::cout ? kExitOk : kExitOther;
}

}  // namespace zerohop

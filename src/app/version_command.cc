// `zerohop --version`.
#include <iostream>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/version.h"
#include "model/llama_backend.h"

namespace zerohop {

int run_version() {
  std::cout << "zerohop " << kVersion << std::endl;
  const auto loaded = init_llama_backend();
  if (!loaded.ok()) return report_failure(loaded.error());
  std::cout << llama_system_info() << std::endl;
  return std::cout ? kExitOk : kExitOther;
}

}  // namespace zerohop

#include "process_use.h"

#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

namespace zerohop::bench {

ProcessUse process_use(pid_t pid) {
  ProcessUse use;
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  std::string line;
  while (std::getline(file, line)) {
    const auto read = [&line](std::string_view name, double& mib) {
      if (line.starts_with(name)) mib = std::strtod(line.c_str() + name.size(), nullptr) / 1024;
    };
    read("VmRSS:", use.resident_mib);
    read("VmHWM:", use.resident_peak_mib);
    read("VmSize:", use.address_space_mib);
  }
  return use;
}

}  // namespace zerohop::bench

#include "app/machine.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

namespace zerohop {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

// cgroup v2, cpu.max: "max 100000" or "50000 100000", quota and period in microseconds.
std::uint32_t cgroup_cores() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double quota = 0;
  double period = 0;
  if (!(file >> quota >> period) || period <= 0) return std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::max(1.0, std::floor(quota / period)));
}

std::uint64_t number_in(const char* path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? number : kUnlimited;  // "max" is no number
}

std::uint64_t cgroup_memory_left() {
  const std::uint64_t most = number_in("/sys/fs/cgroup/memory.max");
  const std::uint64_t used = number_in("/sys/fs/cgroup/memory.current");
  if (most == kUnlimited || used == kUnlimited) return kUnlimited;
  return most > used ? most - used : 0;
}

std::uint64_t machine_memory_left() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::uint64_t kibibytes = 0;
  std::string unit;
  while (file >> name >> kibibytes >> unit) {
    if (name == "MemAvailable:") return kibibytes * 1024;
  }
  return kUnlimited;
}

// `ulimit -v`, what is mapped already taken off.
std::uint64_t address_space_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  const std::uint64_t pages = number_in("/proc/self/statm");
  if (pages == kUnlimited) return kUnlimited;
  const std::uint64_t used = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

}  // namespace

std::uint32_t usable_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::uint32_t cores = std::max(1u, std::thread::hardware_concurrency());
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) {
    cores = static_cast<std::uint32_t>(std::max(1, CPU_COUNT(&mask)));
  }
  return std::min(cores, cgroup_cores());
}

std::uint64_t free_memory_bytes() {
  return std::min({machine_memory_left(), cgroup_memory_left(), address_space_left()});
}

std::uint64_t allow_open_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_max;
}

std::optional<std::uint64_t> oom_kills_in(std::istream& events) {
  std::string name;
  std::uint64_t count = 0;
  while (events >> name >> count) {
    if (name == "oom_kill") return count;
  }
  return std::nullopt;
}

// In a container the mount shows its own group at the root; elsewhere the group of the process is
// below, as /proc names it ("0::/system.slice/zerohop.service").
std::optional<std::uint64_t> cgroup_oom_kills() {
  static const std::string own = [] {
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
      if (line.starts_with("0::/")) return line.substr(3);
    }
    return std::string("/");
  }();
  for (const std::string& group : {own, std::string("/")}) {
    std::ifstream events("/sys/fs/cgroup" + group + "/memory.events");
    if (const auto kills = oom_kills_in(events)) return kills;
  }
  return std::nullopt;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != line.npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace zerohop

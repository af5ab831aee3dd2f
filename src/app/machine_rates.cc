#include "app/machine_rates.h"

#include <algorithm>
#include <numeric>
#include <thread>
#include <vector>

#include "app/machine.h"
#include "base/check.h"
#include "model/matrix_rate.h"

namespace zerohop {
namespace {

// Far more than the caches of a core, where there is room for it; each thread reads its own.
constexpr std::uint64_t kThreadBytes = std::uint64_t{48} << 20;
constexpr std::uint64_t kThreadBytesMin = std::uint64_t{8} << 20;
constexpr std::uint64_t kAllBytesMax = std::uint64_t{512} << 20;
constexpr std::uint64_t kFreePart = 8;  // of the free memory, one such part may be taken
constexpr std::uint32_t kThreadsMax = 32;
constexpr int kRounds = 3;

double read_rate(const Clock& clock, std::uint32_t threads) {
  const std::uint64_t room = std::min(kAllBytesMax, free_memory_bytes() / kFreePart);
  const std::uint64_t bytes = std::min(kThreadBytes, room / threads);
  if (bytes < kThreadBytesMin) return 0;
  const std::size_t words = bytes / sizeof(std::uint64_t);
  std::vector<std::vector<std::uint64_t>> blocks(threads);
  std::vector<std::uint64_t> sums(threads);
  const auto on_all = [&](auto work) {
    std::vector<std::jthread> workers;
    for (std::uint32_t i = 0; i < threads; ++i) workers.emplace_back([&work, i] { work(i); });
  };
  // Each thread touches its memory first, so that it lies near it.
  on_all([&](std::uint32_t i) { blocks[i].assign(words, i + 1); });
  Duration best = Duration::max();
  for (int round = 0; round < kRounds; ++round) {
    const TimePoint begin = clock.now();
    on_all([&](std::uint32_t i) {
      sums[i] += std::accumulate(blocks[i].begin(), blocks[i].end(), std::uint64_t{0});
    });
    best = std::min(best, std::max(clock.now() - begin, Duration(1)));
  }
  // What was read has to matter, or the compiler leaves it out.
  for (std::uint32_t i = 0; i < threads; ++i) ZH_CHECK(sums[i] == kRounds * words * (i + 1));
  return static_cast<double>(words * sizeof(std::uint64_t) * threads) / to_seconds(best);
}

}  // namespace

MachineRates measure_machine_rates(const Clock& clock, std::uint32_t threads) {
  ZH_CHECK(threads >= 1);
  threads = std::min(threads, kThreadsMax);
  return {read_rate(clock, threads), measure_matrix_rate(clock, threads)};
}

}  // namespace zerohop

#include "app/machine_rates.h"

#include <algorithm>
#include <numeric>
#include <thread>
#include <vector>

#include "base/check.h"
#include "model/matrix_rate.h"

namespace zerohop {
namespace {

// Far more than the caches of a core; each thread reads its own.
constexpr std::size_t kReadWords = (std::size_t{48} << 20) / sizeof(std::uint64_t);
constexpr int kRounds = 3;

double read_rate(const Clock& clock, std::uint32_t threads) {
  std::vector<std::vector<std::uint64_t>> blocks(threads);
  std::vector<std::uint64_t> sums(threads);
  const auto on_all = [&](auto work) {
    std::vector<std::jthread> workers;
    for (std::uint32_t i = 0; i < threads; ++i) workers.emplace_back([&work, i] { work(i); });
  };
  // Each thread touches its memory first, so that it lies near it.
  on_all([&](std::uint32_t i) { blocks[i].assign(kReadWords, i + 1); });
  Duration best = Duration::max();
  for (int round = 0; round < kRounds; ++round) {
    const TimePoint begin = clock.now();
    on_all([&](std::uint32_t i) {
      sums[i] += std::accumulate(blocks[i].begin(), blocks[i].end(), std::uint64_t{0});
    });
    best = std::min(best, std::max(clock.now() - begin, Duration(1)));
  }
  // What was read has to matter, or the compiler leaves it out.
  for (std::uint32_t i = 0; i < threads; ++i) ZH_CHECK(sums[i] == kRounds * kReadWords * (i + 1));
  return static_cast<double>(kReadWords * sizeof(std::uint64_t) * threads) / to_seconds(best);
}

}  // namespace

MachineRates measure_machine_rates(const Clock& clock, std::uint32_t threads) {
  ZH_CHECK(threads >= 1);
  return {read_rate(clock, threads), measure_matrix_rate(clock, threads)};
}

}  // namespace zerohop

#include "telemetry/sliding_window.h"

#include <algorithm>
#include <cmath>

namespace zerohop {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double SlidingMax::read(TimePoint now) const {
  double most = kNothing;
  ring_.each_young(now, [&most](const Cell& cell) {
    most = std::fmax(most, cell.most.load(std::memory_order_relaxed));  // of a number and none
  });
  return most;
}

double SlidingMean::read(TimePoint now) const {
  double sum = 0;
  std::uint64_t count = 0;
  ring_.each_young(now, [&](const Cell& cell) {
    sum += cell.sum.load(std::memory_order_relaxed);
    count += cell.count.load(std::memory_order_relaxed);
  });
  return count == 0 ? kNothing : sum / static_cast<double>(count);
}

// Bucket 0 holds zero; bucket b the values up to kLeast · 2^(b / 16).
std::size_t SlidingQuantile::bucket_of(double value) {
  if (!(value >= kLeast)) return 0;
  const double place =
      std::ceil(std::log2(value / kLeast) * static_cast<double>(kBucketsPerOctave));
  return std::min(static_cast<std::size_t>(std::max(place, 1.0)), kBuckets);
}

double SlidingQuantile::upper_edge(std::size_t bucket) {
  if (bucket == 0) return 0;
  return kLeast * std::exp2(static_cast<double>(bucket) / static_cast<double>(kBucketsPerOctave));
}

void SlidingQuantile::observe(double value, TimePoint now) {
  ring_.at(now).counts[bucket_of(value)].fetch_add(1, std::memory_order_relaxed);
}

double SlidingQuantile::read(double share, TimePoint now) const {
  std::array<std::uint64_t, kBuckets + 1> sums{};
  std::uint64_t all = 0;
  ring_.each_young(now, [&](const Cell& cell) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const std::uint32_t count = cell.counts[i].load(std::memory_order_relaxed);
      sums[i] += count;
      all += count;
    }
  });
  if (all == 0) return kNothing;
  // The least value that `share` of all do not exceed.
  const auto rank = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(all)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    seen += sums[i];
    if (seen >= std::max<std::uint64_t>(rank, 1)) return upper_edge(i);
  }
  return upper_edge(kBuckets);
}

}  // namespace zerohop

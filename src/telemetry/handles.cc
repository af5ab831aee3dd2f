#include "telemetry/handles.h"

#include <algorithm>

namespace zerohop {

std::size_t Histogram::bucket_of(Duration duration) {
  const auto edge = std::lower_bound(kHistogramBounds.begin(), kHistogramBounds.end(), duration);
  return static_cast<std::size_t>(edge - kHistogramBounds.begin());
}

std::uint64_t Histogram::count() const {
  std::uint64_t total = 0;
  for (const auto& bucket : cell_->buckets) total += bucket.load(std::memory_order_relaxed);
  return total;
}

}  // namespace zerohop

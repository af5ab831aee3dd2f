// The last minute of a measurement, for gauges that a histogram cannot give: its maximum (one stall
// among a million tokens), a percentile, a mean, a share.
//
// The minute is cut into slices. A slice is begun anew when its time comes again, so what is read
// is the last 55 to 60 seconds:
//
//   | 0 | 1 | 2 | … | 11 |          slice of now = (now / 5 s) mod 12
//
// Writing is a comparison and a relaxed store or addition, without a lock: one thread writes to a
// window, any may read. A reader beside a slice that is being begun anew may miss what that slice
// held, which is a minute old.
#pragma once

#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/clock.h"

namespace zerohop {

/// A ring of cells, one for each slice of the last `length`; shared by the windows below.
template <class Cell>
class SliceRing {
 public:
  explicit SliceRing(Duration length) : slice_(length / kSlices) {}

  /// The cell of `now`, cleared when its time has come again.
  Cell& at(TimePoint now) {
    const std::int64_t number = now.time_since_epoch() / slice_;
    Slice& slice = ring_[static_cast<std::size_t>(number) % ring_.size()];
    if (slice.number.load(std::memory_order_relaxed) != number) {
      slice.cell.clear();
      slice.number.store(number, std::memory_order_release);
    }
    return slice.cell;
  }
  /// Those that are young enough to be read at `now`.
  template <class See>
  void each_young(TimePoint now, const See& see) const {
    const std::int64_t current = now.time_since_epoch() / slice_;
    for (const Slice& slice : ring_) {
      const std::int64_t number = slice.number.load(std::memory_order_acquire);
      if (number < 0 || number > current || number + kSlices <= current) continue;
      see(slice.cell);
    }
  }

 private:
  static constexpr std::int64_t kSlices = 12;
  struct Slice {
    std::atomic<std::int64_t> number{-1};
    Cell cell;
  };
  Duration slice_;
  std::array<Slice, kSlices> ring_;
};

class SlidingMax {
 public:
  explicit SlidingMax(Duration length = std::chrono::seconds(60)) : ring_(length) {}

  void observe(double value, TimePoint now) {
    std::atomic<double>& most = ring_.at(now).most;
    const double old = most.load(std::memory_order_relaxed);
    if (std::isnan(old) || value > old) most.store(value, std::memory_order_relaxed);
  }
  /// Not a number while nothing was observed: a gauge with that value is left out of the page.
  double read(TimePoint now) const;

 private:
  struct Cell {
    std::atomic<double> most{0};
    void clear() {
      most.store(std::numeric_limits<double>::quiet_NaN(), std::memory_order_relaxed);
    }
  };
  SliceRing<Cell> ring_;
};

/// Sum and count: a mean, or with ones and zeros a share.
class SlidingMean {
 public:
  explicit SlidingMean(Duration length = std::chrono::minutes(5)) : ring_(length) {}

  void observe(double value, TimePoint now) {
    Cell& cell = ring_.at(now);
    cell.sum.fetch_add(value, std::memory_order_relaxed);
    cell.count.fetch_add(1, std::memory_order_relaxed);
  }
  /// Likewise.
  double read(TimePoint now) const;

 private:
  struct Cell {
    std::atomic<double> sum{0};
    std::atomic<std::uint64_t> count{0};
    void clear() {
      sum.store(0, std::memory_order_relaxed);
      count.store(0, std::memory_order_relaxed);
    }
  };
  SliceRing<Cell> ring_;
};

/// Percentiles of positive numbers, by buckets whose edges are 4.4 % apart: a result is at most
/// that much too high. What is below kLeast counts as zero.
class SlidingQuantile {
 public:
  static constexpr double kLeast = 1e-4;
  static constexpr std::size_t kBucketsPerOctave = 16;
  static constexpr std::size_t kBuckets = 36 * kBucketsPerOctave;  // up to 6.9 million

  explicit SlidingQuantile(Duration length = std::chrono::seconds(60)) : ring_(length) {}

  void observe(double value, TimePoint now);
  /// `share`: 0 to 1. Not a number while nothing was observed.
  double read(double share, TimePoint now) const;

 private:
  struct Cell {
    std::array<std::atomic<std::uint32_t>, kBuckets + 1> counts{};
    void clear() {
      for (auto& count : counts) count.store(0, std::memory_order_relaxed);
    }
  };
  static std::size_t bucket_of(double value);
  static double upper_edge(std::size_t bucket);

  SliceRing<Cell> ring_;
};

}  // namespace zerohop

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
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/clock.h"

namespace zerohop {

/// Which slices are young enough to count; shared by the windows below.
class WindowSlices {
 public:
  static constexpr std::size_t kSlices = 12;

  explicit WindowSlices(Duration length) : slice_(length / static_cast<std::int64_t>(kSlices)) {}

  std::int64_t number(TimePoint now) const { return now.time_since_epoch() / slice_; }
  static std::size_t place(std::int64_t number) {
    return static_cast<std::size_t>(number) % kSlices;
  }
  /// Whether what slice `number` holds is to be read at `now`.
  bool is_young(std::int64_t number, TimePoint now) const {
    const std::int64_t current = this->number(now);
    return number <= current && number + static_cast<std::int64_t>(kSlices) > current;
  }

 private:
  Duration slice_;
};

class SlidingMax {
 public:
  explicit SlidingMax(Duration length = std::chrono::seconds(60)) : slices_(length) {}

  void observe(double value, TimePoint now) {
    const std::int64_t number = slices_.number(now);
    Slice& slice = ring_[WindowSlices::place(number)];
    if (slice.number.load(std::memory_order_relaxed) != number) {
      slice.most.store(value, std::memory_order_relaxed);
      slice.number.store(number, std::memory_order_release);
    } else if (value > slice.most.load(std::memory_order_relaxed)) {
      slice.most.store(value, std::memory_order_relaxed);
    }
  }
  /// Not a number while nothing was observed: a gauge with that value is left out of the page.
  double read(TimePoint now) const;

 private:
  struct Slice {
    std::atomic<std::int64_t> number{-1};
    std::atomic<double> most{0};
  };
  WindowSlices slices_;
  std::array<Slice, WindowSlices::kSlices> ring_;
};

/// Sum and count: a mean, or with ones and zeros a share.
class SlidingMean {
 public:
  explicit SlidingMean(Duration length = std::chrono::minutes(5)) : slices_(length) {}

  void observe(double value, TimePoint now) {
    const std::int64_t number = slices_.number(now);
    Slice& slice = ring_[WindowSlices::place(number)];
    if (slice.number.load(std::memory_order_relaxed) != number) {
      slice.sum.store(0, std::memory_order_relaxed);
      slice.count.store(0, std::memory_order_relaxed);
      slice.number.store(number, std::memory_order_release);
    }
    slice.sum.fetch_add(value, std::memory_order_relaxed);
    slice.count.fetch_add(1, std::memory_order_relaxed);
  }
  /// Likewise.
  double read(TimePoint now) const;

 private:
  struct Slice {
    std::atomic<std::int64_t> number{-1};
    std::atomic<double> sum{0};
    std::atomic<std::uint64_t> count{0};
  };
  WindowSlices slices_;
  std::array<Slice, WindowSlices::kSlices> ring_;
};

/// Percentiles of positive numbers, by buckets whose edges are 4.4 % apart: a result is at most
/// that much too high. What is below kLeast counts as zero.
class SlidingQuantile {
 public:
  static constexpr double kLeast = 1e-4;
  static constexpr std::size_t kBucketsPerOctave = 16;
  static constexpr std::size_t kBuckets = 36 * kBucketsPerOctave;  // up to 6.9 million

  explicit SlidingQuantile(Duration length = std::chrono::seconds(60)) : slices_(length) {}

  void observe(double value, TimePoint now);
  /// `share`: 0 to 1. Not a number while nothing was observed.
  double read(double share, TimePoint now) const;

 private:
  struct Slice {
    std::atomic<std::int64_t> number{-1};
    std::array<std::atomic<std::uint32_t>, kBuckets + 1> counts{};
  };
  static std::size_t bucket_of(double value);
  static double upper_edge(std::size_t bucket);

  WindowSlices slices_;
  std::array<Slice, WindowSlices::kSlices> ring_;
};

}  // namespace zerohop

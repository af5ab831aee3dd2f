#include "telemetry/handles.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

namespace zerohop {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

TEST(Counter, LosesNoAdditionOfManyThreads) {
  metric_cells::CounterCell cell;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&cell] {
      Counter counter(&cell);
      for (int n = 0; n < 50'000; ++n) counter.add();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Counter(&cell).value(), 200'000u);
}

TEST(Counter, PublishTakesOverATotal) {
  metric_cells::CounterCell cell;
  Counter counter(&cell);
  counter.publish(41);
  counter.publish(42);
  EXPECT_EQ(counter.value(), 42u);
}

TEST(Gauge, AddsAndSubtractsFromManyThreadsBackToZero) {
  metric_cells::GaugeCell cell;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&cell] {
      for (int n = 0; n < 10'000; ++n) const GaugeSpan span{Gauge(&cell)};
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Gauge(&cell).value(), 0.0);
}

TEST(GaugeSpan, CountsWhileItLivesAndOnlyOnceWhenMoved) {
  metric_cells::GaugeCell cell;
  const Gauge gauge(&cell);
  {
    GaugeSpan first(gauge);
    GaugeSpan second(std::move(first));
    EXPECT_EQ(gauge.value(), 1.0);
    GaugeSpan third(gauge);
    EXPECT_EQ(gauge.value(), 2.0);
    third = std::move(second);
    EXPECT_EQ(gauge.value(), 1.0);
  }
  EXPECT_EQ(gauge.value(), 0.0);
}

TEST(Histogram, AnEdgeBelongsToTheBucketBelowIt) {
  EXPECT_EQ(Histogram::bucket_of(nanoseconds{0}), 0u);
  EXPECT_EQ(Histogram::bucket_of(milliseconds{1}), 0u);
  EXPECT_EQ(Histogram::bucket_of(milliseconds{1} + nanoseconds{1}), 1u);
  EXPECT_EQ(Histogram::bucket_of(milliseconds{60'000}), kHistogramBounds.size() - 1);
  EXPECT_EQ(Histogram::bucket_of(milliseconds{60'000} + nanoseconds{1}), kHistogramBounds.size());
}

TEST(Histogram, EveryEdgeFallsIntoItsOwnBucket) {
  for (std::size_t i = 0; i < kHistogramBounds.size(); ++i) {
    EXPECT_EQ(Histogram::bucket_of(kHistogramBounds[i]), i);
    EXPECT_EQ(Histogram::bucket_of(kHistogramBounds[i] + nanoseconds{1}), i + 1);
  }
}

TEST(Histogram, CountsAndSumsWhatItObserved) {
  metric_cells::HistogramCell cell;
  Histogram histogram(&cell);
  histogram.observe(milliseconds{2});
  histogram.observe(milliseconds{90'000});
  histogram.observe(milliseconds{-5});  // counts as zero
  EXPECT_EQ(histogram.count(), 3u);
  EXPECT_EQ(histogram.sum(), milliseconds{90'002});
  EXPECT_EQ(cell.buckets[0].load(), 1u);
  EXPECT_EQ(cell.buckets[1].load(), 1u);
  EXPECT_EQ(cell.buckets.back().load(), 1u);
}

}  // namespace
}  // namespace zerohop

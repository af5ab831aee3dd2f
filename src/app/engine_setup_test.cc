#include "app/engine_setup.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

std::string complaint(const SchedulerConfig& config) {
  const auto options = fairness_options(config, 8);
  return options.ok() ? std::string() : options.error().message;
}

TEST(FairnessOptions, TakeWeightsAndReservationsOfTheThreeClasses) {
  SchedulerConfig config;
  config.class_weights = {8, 2, 0.5};
  config.reserved_sequences = {2, 1, 0};
  const auto options = fairness_options(config, 8);
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->sequences, 8u);
  EXPECT_EQ(options->classes[0].weight, 8);
  EXPECT_EQ(options->classes[0].reserved_sequences, 2u);
  EXPECT_EQ(options->classes[2].weight, 0.5);
}

TEST(FairnessOptions, RefuseWhatDoesNotFit) {
  EXPECT_EQ(complaint({}), "");
  SchedulerConfig config;
  config.class_weights = {1, 1};
  EXPECT_NE(complaint(config).find("needs three numbers"), std::string::npos);
  config.class_weights = {1, 0, 1};
  EXPECT_NE(complaint(config).find("above 0"), std::string::npos);
  config = {};
  config.reserved_sequences = {4, 4, 0};
  EXPECT_NE(complaint(config).find("fewer than engine.sequences (8)"), std::string::npos);
  config.reserved_sequences = {1.5, 0, 0};
  EXPECT_NE(complaint(config).find("whole numbers"), std::string::npos);
}

TEST(EngineSetup, GivesParkedPrefixesTheIdsThatAreLeft) {
  ModelInfo model;
  model.context_trained = 2048;
  EngineConfig config;
  config.sequences = 8;
  EXPECT_EQ(context_options(config, model).parked, 247u);
  config.parked_sequences = 3;
  EXPECT_EQ(context_options(config, model).parked, 3u);
  config.parked_sequences = 0;
  EXPECT_EQ(context_options(config, model).parked, 0u);
  config = {};
  config.sequences = 256;
  EXPECT_EQ(context_options(config, model).parked, 0u);
  config = {};
  config.kv_layout = KvLayoutChoice::kStreams;
  EXPECT_EQ(context_options(config, model).parked, 0u);
  config = {};
  config.window_cache = WindowCache::kWindow;
  EXPECT_EQ(context_options(config, model).parked, 0u);
  EXPECT_FALSE(context_options(config, model).full_window_cache);
}

TEST(EngineSetup, RunsAsManyAtOnceAsItIsTold) {
  const SequenceCounts counts{8, 0};
  QueueConfig queue;
  EXPECT_EQ(concurrency_options(queue, counts)->ceiling, 8u);
  EXPECT_EQ(concurrency_options(queue, counts)->floor, 8u);
  queue.max_concurrent_requests = 3;
  EXPECT_EQ(concurrency_options(queue, counts)->ceiling, 3u);
  EXPECT_EQ(concurrency_options(queue, counts)->floor, 3u);
  queue.max_concurrent_requests = QueueConfig::kAuto;
  queue.concurrent_requests_min = 2;
  EXPECT_EQ(concurrency_options(queue, counts)->ceiling, 8u);
  EXPECT_EQ(concurrency_options(queue, counts)->floor, 2u);
  queue.concurrent_requests_max = 5;
  EXPECT_EQ(concurrency_options(queue, counts)->ceiling, 5u);
}

TEST(EngineSetup, RefusesMoreAtOnceThanThereAreSequences) {
  const auto complaint_of = [](const QueueConfig& queue, std::uint32_t reserved = 0) {
    const auto options = concurrency_options(queue, {8, reserved});
    return options.ok() ? std::string() : options.error().message;
  };
  QueueConfig queue;
  queue.max_concurrent_requests = 9;
  EXPECT_EQ(complaint_of(queue),
            "queue.max_concurrent_requests: 9 is more than engine.sequences (8), of which the "
            "library has 256 at most");
  queue.max_concurrent_requests = QueueConfig::kAuto;
  queue.concurrent_requests_max = 9;
  EXPECT_NE(complaint_of(queue).find("queue.concurrent_requests_max: 9"), std::string::npos);
  queue.concurrent_requests_max = 4;
  queue.concurrent_requests_min = 5;
  EXPECT_NE(complaint_of(queue).find("queue.concurrent_requests_min: 5"), std::string::npos);
  queue.concurrent_requests_min = 2;
  EXPECT_EQ(complaint_of(queue, 1), "");
  EXPECT_NE(complaint_of(queue, 2).find("reserved_sequences"), std::string::npos);
}

TEST(EngineSetup, BoundsTheQueue) {
  EngineSetup setup;
  setup.queue.requests_max = 5;
  setup.queue.tokens_max = 1'000;
  setup.queue.tenant_share_percent = 25;
  setup.queue.pool_reserved_sequences = 2;
  ContextOptions context;
  context.sequences = 4;
  const auto options = engine_options(setup, context);
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->queue.requests_max, 5u);
  EXPECT_EQ(options->queue.tokens_max, 1'000u);
  EXPECT_EQ(options->queue.tenant_share, 0.25);
  EXPECT_EQ(options->fairness.pool_reserved_sequences, 2u);
  setup.queue.pool_reserved_sequences = 4;
  EXPECT_FALSE(engine_options(setup, context).ok());
}

TEST(EngineSetup, GivesTheCacheItsCaps) {
  EngineSetup setup;
  setup.engine.host_cache_bytes = 1'000;
  setup.cache.kv_cache_max_entries = 7;
  setup.cache.keep = KeepRule::kMarked;
  setup.cache.eviction = EvictionOrder::kLeastRecent;
  setup.scheduler.max_wait_seconds = 9;
  const auto options = engine_options(setup, ContextOptions{});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->cache.host_bytes_max, 1'000u);
  EXPECT_EQ(options->cache.host_entries_max, 7u);
  EXPECT_EQ(options->cache.keep, KeepRule::kMarked);
  EXPECT_EQ(options->cache.order, EvictionOrder::kLeastRecent);
  EXPECT_EQ(options->pressure.wait_max, std::chrono::seconds(9));
  setup.engine.host_cache_bytes = EngineConfig::kAutoBytes;
  const auto automatic = engine_options(setup, ContextOptions{});
  EXPECT_GT(automatic->cache.host_bytes_max, 0u);
  EXPECT_LE(automatic->cache.host_bytes_max, std::uint64_t{2} << 30);
}

}  // namespace
}  // namespace zerohop

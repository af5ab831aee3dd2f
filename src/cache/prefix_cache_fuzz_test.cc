// Random operations on the prefix cache and on its naive twin, on every kind of layout.
#include <gtest/gtest.h>

#include "base/random.h"
#include "cache/prefix_cache_twin.h"

namespace zerohop {
namespace {

KvCapabilities pool() {
  KvCapabilities capabilities;
  capabilities.slots = 8;
  capabilities.sequences = 4;
  capabilities.slot_cells = 160;
  capabilities.cells = 400;
  capabilities.pooled = true;
  capabilities.can_share_range = true;
  capabilities.can_save_range = true;
  capabilities.bytes_per_cell = 10;
  return capabilities;
}

KvCapabilities streams() {
  KvCapabilities capabilities;
  capabilities.slots = capabilities.sequences = 4;
  capabilities.slot_cells = 160;
  capabilities.cells = 640;
  capabilities.dense_slots_matter = true;
  capabilities.bytes_per_cell = 10;
  return capabilities;
}

void run(TwinOptions options, std::uint64_t seeds, int steps) {
  const std::string name = options.name;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    options.name = name + ", seed " + std::to_string(seed);
    Random random(seed);
    CacheTwin twin(options, [&](std::uint64_t bound) { return random.below(bound); });
    for (int i = 0; i < steps; ++i) twin.step();
    twin.finish();
  }
}

constexpr std::uint64_t kSeeds = 16;
constexpr int kSteps = 200;

TEST(PrefixCacheFuzz, PoolWithParkedSlotsAgreesWithTheTwin) {
  TwinOptions options{.name = "pool", .capabilities = pool()};
  run(options, kSeeds, kSteps);
}

TEST(PrefixCacheFuzz, TightPoolAgreesWithTheTwin) {
  TwinOptions options{.name = "tight pool", .capabilities = pool(), .alphabet = 2};
  options.capabilities.cells = 170;
  run(options, kSeeds, kSteps);
}

TEST(PrefixCacheFuzz, PoolWithHostTierAgreesWithTheTwin) {
  TwinOptions options{.name = "host tier", .capabilities = pool(), .prompt_max = 140};
  options.cache.host_bytes_max = 4000;
  run(options, kSeeds, kSteps);
}

TEST(PrefixCacheFuzz, HostTierWithFewEntriesAgreesWithTheTwin) {
  TwinOptions options{.name = "few entries", .capabilities = pool(), .prompt_max = 140};
  options.cache.host_bytes_max = 40000;
  options.cache.host_entries_max = 3;
  run(options, kSeeds, kSteps);
}

TEST(PrefixCacheFuzz, LeastRecentOrderAgreesWithTheTwin) {
  TwinOptions options{.name = "least recent", .capabilities = pool(), .prompt_max = 140};
  options.cache.host_bytes_max = 4000;
  options.cache.order = EvictionOrder::kLeastRecent;
  run(options, kSeeds, kSteps);
}

TEST(PrefixCacheFuzz, LongPromptsAgreeWithTheTwin) {
  TwinOptions options{.name = "long prompts", .capabilities = pool(), .prompt_max = 1400};
  options.capabilities.slot_cells = 1600;
  options.capabilities.cells = 3000;
  options.cache.host_bytes_max = 40000;
  run(options, kSeeds / 4, kSteps);
}

TEST(PrefixCacheFuzz, PinnedPrefixesAgreeWithTheTwin) {
  TwinOptions options{.name = "pins", .capabilities = pool(), .prompt_max = 140, .pins = true};
  options.cache.host_bytes_max = 4000;
  run(options, kSeeds, kSteps);
  options.name = "pins without host tier";
  options.cache.host_bytes_max = 0;
  run(options, kSeeds, kSteps);
}

TEST(PrefixCacheFuzz, ScopesNeverLeak) {
  TwinOptions options{.name = "scopes", .capabilities = pool(), .scopes = 3, .alphabet = 2};
  options.prompt_max = 140;
  options.cache.host_bytes_max = 4000;
  options.pins = true;
  run(options, kSeeds, kSteps);
}

TEST(PrefixCacheFuzz, KeepsOnlyWhatIsMarked) {
  TwinOptions options{.name = "marked", .capabilities = pool(), .prompt_max = 140};
  options.cache.host_bytes_max = 4000;
  options.cache.keep = KeepRule::kMarked;
  run(options, kSeeds, kSteps);
  options.name = "no reuse";
  options.cache.keep = KeepRule::kNothing;
  run(options, kSeeds, kSteps);
}

TEST(PrefixCacheFuzz, SurvivesFailuresOfTheExecutor) {
  TwinOptions options{.name = "surprises", .capabilities = pool(), .prompt_max = 140};
  options.cache.host_bytes_max = 4000;
  options.surprises = true;
  options.pins = true;
  options.scopes = 2;
  run(options, kSeeds, kSteps);
  options.name = "surprises at once";
  options.reports_at_once = true;
  run(options, kSeeds, kSteps);
}

TEST(PrefixCacheFuzz, StreamsAgreeWithTheTwin) {
  TwinOptions options{.name = "streams", .capabilities = streams(), .prompt_max = 140};
  run(options, kSeeds, kSteps);
  options.name = "streams with host tier";
  options.cache.host_bytes_max = 4000;
  run(options, kSeeds, kSteps);
  options.name = "streams with surprises";
  options.surprises = true;
  options.pins = true;
  options.scopes = 2;
  run(options, kSeeds, kSteps);
  options.name = "streams with surprises at once";
  options.reports_at_once = true;
  run(options, kSeeds, kSteps);
}

TEST(PrefixCacheFuzz, LayoutsWithoutCutsAgreeWithTheTwin) {
  TwinOptions options{.name = "no cuts", .capabilities = streams(), .prompt_max = 140};
  options.capabilities.can_cut_tail = false;
  options.cache.host_bytes_max = 4000;
  run(options, kSeeds, kSteps);
  options.name = "no cuts, pooled";
  options.capabilities = pool();
  options.capabilities.can_cut_tail = false;
  options.capabilities.can_share_range = options.capabilities.can_save_range = false;
  run(options, kSeeds, kSteps);
}

TEST(PrefixCacheFuzz, LayoutsWithoutCopiesAgreeWithTheTwin) {
  TwinOptions options{.name = "no copies", .capabilities = streams(), .prompt_max = 140};
  options.capabilities.can_copy_whole = false;
  options.cache.host_bytes_max = 4000;
  run(options, kSeeds, kSteps);
  options.name = "no copies, no cuts";
  options.capabilities.can_cut_tail = false;
  run(options, kSeeds, kSteps);
}

TEST(PrefixCacheFuzz, PoolThatSavesOnlyWholesAgreesWithTheTwin) {
  TwinOptions options{.name = "pool of wholes", .capabilities = pool(), .prompt_max = 140};
  options.capabilities.can_save_range = false;
  options.cache.host_bytes_max = 4000;
  run(options, kSeeds, kSteps);
}

}  // namespace
}  // namespace zerohop

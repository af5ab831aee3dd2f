// The prefix cache on recorded traffic, against exact LRU and the optimum. Needs the Mooncake
// traces; where there are none this file is not built, and CMake says so.
#include <gtest/gtest.h>

#include <string>

#include "trace_sim/block_policies.h"
#include "trace_sim/cache_replay.h"

namespace zerohop::trace_sim {
namespace {

// Beside the source tree, which is where tests run.
constexpr const char* kTraces = "../shared/data/traces/";

struct Expected {
  std::string name;
  std::uint64_t percent = 0;  ///< of all different blocks
  double gap_closed_min = 0;  ///< of what lies between LRU and the optimum
};

class Mooncake : public testing::TestWithParam<Expected> {};

TEST_P(Mooncake, ExpectedReuseBeatsRecency) {
  const Result<std::string> text =
      read_trace(kTraces + ("mooncake_" + GetParam().name + "_trace.jsonl"));
  ASSERT_TRUE(text) << text.error().message;
  const Result<BlockTrace> trace = parse_mooncake(*text);
  ASSERT_TRUE(trace) << trace.error().message;
  const TraceSize size = measure(*trace);
  CacheReplayOptions options;
  options.capacity_blocks = size.distinct * GetParam().percent / 100;
  const auto recent = static_cast<double>(recency_hits(*trace, options.capacity_blocks));
  const auto most = static_cast<double>(optimum_hits(*trace, options.capacity_blocks));
  const double ours = replay(*trace, options).hit_blocks;
  EXPECT_LE(ours, most);
  EXPECT_GE((ours - recent) / (most - recent), GetParam().gap_closed_min)
      << ours << " hits; LRU " << recent << ", optimum " << most;
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, Mooncake,
    testing::Values(Expected{"conversation", 5, 0.10}, Expected{"conversation", 20, 0.0},
                    Expected{"conversation", 80, 0.5}, Expected{"synthetic", 5, 0.02},
                    Expected{"synthetic", 20, 0.18}, Expected{"synthetic", 80, 0.5}),
    [](const auto& tested) { return tested.param.name + std::to_string(tested.param.percent); });

}  // namespace
}  // namespace zerohop::trace_sim

#include "cache/victim_sweep.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"

namespace zerohop {
namespace {

std::vector<double> random_values(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  std::vector<double> values(count);
  for (double& value : values) value = random.uniform();
  return values;
}

TEST(VictimSweep, IsExactAmongFew) {
  VictimSweep sweep;
  const std::vector<double> values = random_values(1, 100);
  std::set<std::uint32_t> gone;
  double last = 0;
  for (int i = 0; i < 100; ++i) {
    const auto victim = sweep.lowest(100, [&](std::uint32_t index) -> std::optional<VictimRank> {
      if (gone.contains(index)) return std::nullopt;
      return VictimRank{0, values[index]};
    });
    ASSERT_TRUE(victim);
    EXPECT_GE(victim->rank.value, last);
    last = victim->rank.value;
    gone.insert(victim->index);
  }
}

TEST(VictimSweep, TiersCountBeforeValues) {
  VictimSweep sweep;
  const auto victim = sweep.lowest(10, [](std::uint32_t index) -> std::optional<VictimRank> {
    return VictimRank{index == 7 ? 0 : 1, index == 7 ? 100.0 : 0.0};
  });
  EXPECT_EQ(victim->index, 7u);
}

TEST(VictimSweep, FindsTheOnlyCandidateAmongMany) {
  VictimSweep sweep;
  const auto only = [](std::uint32_t index) -> std::optional<VictimRank> {
    if (index != 9999) return std::nullopt;
    return VictimRank{};
  };
  EXPECT_EQ(sweep.lowest(10000, only)->index, 9999u);
  EXPECT_FALSE(sweep.lowest(9999, only));
  EXPECT_FALSE(sweep.lowest(0, only));
}

// Of 5,000 the 500 lowest have to go. Looking at 160 each time, nearly all that go are among the
// lowest 600.
TEST(VictimSweep, ComesCloseToExactAmongMany) {
  VictimSweep sweep;
  const std::vector<double> values = random_values(2, 5000);
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  std::set<std::uint32_t> gone;
  int good = 0;
  for (int i = 0; i < 500; ++i) {
    const auto victim = sweep.lowest(5000, [&](std::uint32_t index) -> std::optional<VictimRank> {
      if (gone.contains(index)) return std::nullopt;
      return VictimRank{0, values[index]};
    });
    gone.insert(victim->index);
    if (victim->rank.value <= sorted[600]) ++good;
  }
  EXPECT_GE(good, 475);
}

}  // namespace
}  // namespace zerohop

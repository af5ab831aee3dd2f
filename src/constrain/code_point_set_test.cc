#include "constrain/code_point_set.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/random.h"

namespace zerohop {
namespace {

// Sets over a few code points on both sides of every border that matters, as bits.
constexpr char32_t kPoints[] = {0,      1,      2,      U'a',   U'b',    0x7f,     0x80,    0xd7fe,
                                0xd7ff, 0xe000, 0xe001, 0xffff, 0x10000, 0x10fffe, 0x10ffff};

std::set<char32_t> members(const CodePointSet& set) {
  std::set<char32_t> found;
  for (const char32_t point : kPoints) {
    if (set.contains(point)) found.insert(point);
  }
  return found;
}

CodePointSet random_set(Random& random) {
  std::vector<CodePointRange> ranges;
  for (std::uint64_t left = random.below(5); left > 0; --left) {
    const char32_t a = kPoints[random.below(std::size(kPoints))];
    const char32_t b = kPoints[random.below(std::size(kPoints))];
    ranges.push_back({std::min(a, b), std::max(a, b)});
  }
  return CodePointSet::of(std::move(ranges));
}

TEST(CodePointSet, OperationsAreThoseOfSets) {
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    const CodePointSet a = random_set(random);
    const CodePointSet b = random_set(random);
    const auto in_a = members(a);
    const auto in_b = members(b);
    for (const char32_t point : kPoints) {
      const bool left = in_a.contains(point);
      const bool right = in_b.contains(point);
      ASSERT_EQ((a | b).contains(point), left || right);
      ASSERT_EQ((a & b).contains(point), left && right);
      ASSERT_EQ(a.complement().contains(point), !left);
    }
    ASSERT_EQ(a.complement().complement(), a);
    ASSERT_EQ((a | b).size() + (a & b).size(), a.size() + b.size());
    ASSERT_EQ((a | b).complement(), a.complement() & b.complement());
    ASSERT_EQ((a == b), ((a & b.complement()) | (b & a.complement())).empty());
    ASSERT_TRUE(a != b || a.hash() == b.hash());
  }
}

TEST(CodePointSet, RangesAreSortedAndDoNotTouch) {
  const CodePointSet set{{U'd', U'f'}, {U'a', U'c'}, {U'b', U'd'}, {U'x', U'x'}};
  ASSERT_EQ(set.ranges().size(), 2u);
  EXPECT_EQ(set.ranges()[0], (CodePointRange{U'a', U'f'}));
  EXPECT_EQ(set.size(), 7u);
}

TEST(CodePointSet, HoldsNoSurrogates) {
  EXPECT_TRUE((CodePointSet{{0xd800, 0xdfff}}).empty());
  EXPECT_EQ((CodePointSet{{0, kCodePointMax}}), CodePointSet::all());
  EXPECT_EQ((CodePointSet{{0, 0xd7ff}, {0xe000, UINT32_MAX}}), CodePointSet::all());
  EXPECT_EQ(CodePointSet::all().size(), 0x110000u - 2048u);
  EXPECT_TRUE(CodePointSet::all().complement().empty());
  EXPECT_EQ(CodePointSet().complement(), CodePointSet::all());
}

TEST(CodePointSet, PicksWhatReadsBest) {
  EXPECT_EQ(CodePointSet::all().pick(), U'a');
  EXPECT_EQ((CodePointSet{{0, U'9'}}).pick(), U'0');
  EXPECT_EQ((CodePointSet{{0, U'!'}}).pick(), U' ');
  EXPECT_EQ((CodePointSet{{U'"', U'#'}}).pick(), U'#');
  EXPECT_EQ((CodePointSet{{0, 31}, {0x4e00, 0x4e10}}).pick(), 0x4e00u);
  EXPECT_EQ((CodePointSet{{0, 31}}).pick(), U'\t');
}

TEST(CodePointSet, EveryScalarValueHasARankOfItsOwn) {
  std::vector<bool> seen(CodePointSet::all().size());
  for (char32_t point = 0; point <= kCodePointMax; ++point) {
    if (!is_scalar_value(point)) continue;
    const std::uint32_t rank = readability_rank(point);
    ASSERT_LT(rank, seen.size());
    ASSERT_FALSE(seen[rank]);
    seen[rank] = true;
  }
}

}  // namespace
}  // namespace zerohop

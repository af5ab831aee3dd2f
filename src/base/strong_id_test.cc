#include "base/strong_id.h"

#include <gtest/gtest.h>

#include <type_traits>
#include <unordered_set>

namespace zerohop {
namespace {

struct AppleTag;
struct PearTag;
using AppleId = StrongId<AppleTag, int>;
using PearId = StrongId<PearTag, int>;

static_assert(!std::is_convertible_v<int, AppleId>);
static_assert(!std::is_convertible_v<AppleId, PearId>);
static_assert(!std::is_constructible_v<AppleId, PearId>);

TEST(StrongId, ComparesByValue) {
  EXPECT_EQ(AppleId(3), AppleId(3));
  EXPECT_NE(AppleId(3), AppleId(4));
  EXPECT_LT(AppleId(3), AppleId(4));
  EXPECT_EQ(AppleId().value, 0);
}

TEST(StrongId, HashesByValue) {
  const std::unordered_set<AppleId> ids{AppleId(1), AppleId(2), AppleId(1)};
  EXPECT_EQ(ids.size(), 2u);
  EXPECT_EQ(ids.count(AppleId(2)), 1u);
}

}  // namespace
}  // namespace zerohop

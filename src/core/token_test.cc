#include "core/token.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

TEST(PositionRange, IsHalfOpen) {
  const PositionRange range{3, 7};
  EXPECT_EQ(range.size(), 4);
  EXPECT_FALSE(range.empty());
  EXPECT_TRUE((PositionRange{3, 3}).empty());
  EXPECT_TRUE((PositionRange{4, 3}).empty());
}

}  // namespace
}  // namespace zerohop

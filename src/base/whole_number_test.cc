#include "base/whole_number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace zerohop {
namespace {

TEST(WholeNumber, IsTheWholeTextAndFits) {
  EXPECT_EQ(whole_number<std::uint16_t>("65535"), 65'535);
  EXPECT_EQ(whole_number<int>("-7"), -7);
  EXPECT_EQ(whole_number<unsigned>("007"), 7u);
  EXPECT_EQ(whole_number<double>("2.5e1"), 25.0);
}

TEST(WholeNumber, IsNothingElse) {
  for (const char* text : {"", " 1", "1 ", "+1", "1x", "x", "-", "1.5", "0x1"}) {
    EXPECT_EQ(whole_number<int>(text), std::nullopt) << text;
  }
  EXPECT_EQ(whole_number<std::uint16_t>("65536"), std::nullopt);
  EXPECT_EQ(whole_number<unsigned>("-1"), std::nullopt);
  EXPECT_EQ(whole_number<double>("1e999"), std::nullopt);
}

}  // namespace
}  // namespace zerohop

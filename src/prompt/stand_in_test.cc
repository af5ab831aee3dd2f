#include "prompt/stand_in.h"

#include <gtest/gtest.h>

#include <string>

namespace zerohop {
namespace {

TEST(StandIns, AreFoundAgainInOrder) {
  const StandIns stand_ins(1);
  const std::string text = "a" + stand_ins.make(7) + stand_ins.make(12'345'678) + "b";
  const auto first = stand_ins.find(text, 0);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->begin, 1u);
  EXPECT_EQ(first->index, 7u);
  const auto second = stand_ins.find(text, first->end);
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->begin, first->end);
  EXPECT_EQ(second->index, 12'345'678u);
  EXPECT_EQ(second->end, text.size() - 1);
  EXPECT_FALSE(stand_ins.find(text, second->end).has_value());
}

TEST(StandIns, AreFoundBetweenAnyDigits) {
  const StandIns stand_ins(2);
  const std::string self = stand_ins.make(99);
  for (std::size_t cut = 0; cut <= self.size(); ++cut) {
    // Digits in front that begin like a stand-in, digits behind that could continue one.
    const std::string text = self.substr(0, cut < 16 ? cut : 15) + self + "0123456789";
    const auto found = stand_ins.find(text, 0);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->begin, text.size() - 10 - self.size()) << cut;
    EXPECT_EQ(found->index, 99u);
  }
}

TEST(StandIns, DifferBySeedAndAreNotTakenForEachOther) {
  const StandIns one(1);
  const StandIns two(2);
  EXPECT_NE(one.make(0), two.make(0));
  EXPECT_FALSE(one.find(two.make(0), 0).has_value());
  EXPECT_TRUE(one.occur_in("x" + one.make(3)));
  EXPECT_FALSE(one.occur_in("x" + two.make(3)));
}

TEST(StandIns, AreDigitsOnly) {
  EXPECT_EQ(StandIns(3).make(42).find_first_not_of("0123456789"), std::string::npos);
}

TEST(StandIns, IgnoresOneThatIsCutOff) {
  const StandIns stand_ins(4);
  EXPECT_FALSE(stand_ins.find(stand_ins.make(5).substr(0, 23), 0).has_value());
}

}  // namespace
}  // namespace zerohop

#include "chain/plan.h"

#include <gtest/gtest.h>

namespace zerohop::bench {
namespace {

std::string fault_of(std::string_view text) {
  std::string fault;
  EXPECT_TRUE(parse_plan(text, fault).empty());
  return fault;
}

TEST(ChainPlan, ALineIsARequest) {
  std::string fault;
  const auto plan =
      parse_plan("0\t0\tshort\t{\"stream\":true}\n1.5\t2\tlong one\t{\"text\":\"a\\tb\"}\n", fault);
  ASSERT_EQ(plan.size(), 2U) << fault;
  EXPECT_EQ(plan[0].kind, "short");
  EXPECT_TRUE(plan[0].streamed());
  EXPECT_DOUBLE_EQ(plan[1].due, 1.5);
  EXPECT_DOUBLE_EQ(plan[1].give_up, 2);
  EXPECT_EQ(plan[1].body, R"({"text":"a\tb"})");
  EXPECT_FALSE(plan[1].streamed());
}

TEST(ChainPlan, TheLastLineNeedsNoEnd) {
  std::string fault;
  EXPECT_EQ(parse_plan("0\t0\ta\t{}", fault).size(), 1U);
}

TEST(ChainPlan, FaultsNameTheLine) {
  EXPECT_EQ(fault_of("0\t0\ta\t{}\n0\t0\ta"), "line 2 is no planned request");
  EXPECT_EQ(fault_of("x\t0\ta\t{}"), "line 1 is no planned request");
  EXPECT_EQ(fault_of("-1\t0\ta\t{}"), "line 1 is no planned request");
  EXPECT_EQ(fault_of("1\t0\ta\t{}\n0.5\t0\ta\t{}"), "line 2 is due before the one in front of it");
  EXPECT_EQ(fault_of(""), "the plan is empty");
}

}  // namespace
}  // namespace zerohop::bench

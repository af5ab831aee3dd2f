#include "constrain/behind_machine.h"

#include <gtest/gtest.h>

#include "constrain/grammar_machine.h"

namespace zerohop {
namespace {

std::shared_ptr<const ConstraintMachine> choice(const std::vector<std::string>& texts) {
  auto made = make_choice_machine(texts);
  EXPECT_TRUE(made.ok());
  return std::move(made).value();
}

TEST(BehindMachine, FollowsTheRestOfATextThatHasBegun) {
  const auto machine = make_behind_machine(choice({"yes, sir", "yes", "no"}), "ye");
  ASSERT_NE(machine, nullptr);
  EXPECT_TRUE(accepts(*machine, "s"));
  EXPECT_TRUE(accepts(*machine, "s, sir"));
  EXPECT_FALSE(accepts(*machine, "yes"));
  EXPECT_FALSE(machine->accepting(machine->start()));
  EXPECT_EQ(machine->forced(machine->start(), 10), "s");
  EXPECT_EQ(machine->shortest_end(machine->start()), "s");
}

TEST(BehindMachine, MayHaveNothingLeftToFollow) {
  const auto machine = make_behind_machine(choice({"yes", "no"}), "yes");
  ASSERT_NE(machine, nullptr);
  EXPECT_TRUE(accepts(*machine, ""));
  EXPECT_FALSE(goes_on(*machine, machine->start()));
}

TEST(BehindMachine, IsNoneWhereNoTextBeginsLikeThat) {
  EXPECT_EQ(make_behind_machine(choice({"yes", "no"}), "maybe"), nullptr);
}

TEST(BehindMachine, BeginsAtTheSamePlaceAfterRenewal) {
  const auto machine = make_behind_machine(choice({"yes", "no"}), "y");
  ASSERT_NE(machine, nullptr);
  const auto fresh = machine->renew();
  EXPECT_TRUE(accepts(*fresh, "es"));
  EXPECT_FALSE(accepts(*fresh, "no"));
}

}  // namespace
}  // namespace zerohop

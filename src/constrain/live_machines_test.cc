#include "constrain/live_machines.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/random.h"
#include "constrain/constraint_session.h"
#include "constrain/constraint_test_kit.h"
#include "constrain/grammar_machine.h"

namespace zerohop {
namespace {

CompiledConstraint constraint(std::uint64_t id, std::string_view pattern = "[a-f]{2}-[0-9]*") {
  CompiledConstraint compiled;
  compiled.id = id;
  compiled.machine = make_regex_machine(pattern).value();
  return compiled;
}

// Makes states and masks, as an answer does.
void use(MaskCache& masks, const std::shared_ptr<LiveMachine>& machine, std::string_view text) {
  ConstraintSession session({.machine = machine, .masks = &masks, .tokens_max = 100});
  for (const char byte : text) {
    session.mask();
    session.accept(static_cast<Token>(static_cast<unsigned char>(byte)));
  }
}

class LiveMachinesOf : public testing::Test {
 protected:
  MaskCache masks{vocabulary_of({"ab", "-1"}), std::size_t{1} << 20};
};

TEST_F(LiveMachinesOf, GivesRequestsWithTheSameConstraintOneMachine) {
  LiveMachines machines(masks);
  const CompiledConstraint first = constraint(1);
  const auto one = machines.follow(first);
  EXPECT_EQ(machines.follow(first), one);
  EXPECT_NE(machines.follow(constraint(2)), one);
  EXPECT_EQ(machines.size(), 2u);
  EXPECT_EQ(machines.in_use(), 1u);
}

TEST_F(LiveMachinesOf, KeepsAnIdleMachineWithItsStatesAndMasks) {
  LiveMachines machines(masks);
  const CompiledConstraint first = constraint(1);
  use(masks, machines.follow(first), "ab-12");
  machines.tidy();
  const auto again = machines.follow(first);
  const std::uint64_t built = masks.statistics().built;
  use(masks, again, "ab-12");
  EXPECT_EQ(masks.statistics().built, built);
}

TEST_F(LiveMachinesOf, DropsTheIdleOneThatWasAskedForLeastRecently) {
  LiveMachines machines(masks, {.idle_max = 2});
  for (const std::uint64_t id : {1u, 2u, 3u, 1u}) use(masks, machines.follow(constraint(id)), "ab");
  machines.tidy();
  EXPECT_EQ(machines.size(), 2u);
  const std::uint64_t built = masks.statistics().built;
  use(masks, machines.follow(constraint(1)), "ab");
  EXPECT_EQ(masks.statistics().built, built) << "was kept";
  use(masks, machines.follow(constraint(2)), "ab");
  EXPECT_GT(masks.statistics().built, built) << "was dropped, with its masks";
}

TEST_F(LiveMachinesOf, KeepsIdleOnesWithinTheirBytes) {
  LiveMachines machines(masks, {.idle_bytes_max = 1});
  const auto used = machines.follow(constraint(1));
  use(masks, machines.follow(constraint(2)), "cd-7");
  EXPECT_EQ(machines.size(), 2u);
  EXPECT_GT(machines.memory_bytes(), 0u);
  machines.tidy();
  EXPECT_EQ(machines.size(), 1u) << "one with a user stays, whatever it takes";
  EXPECT_EQ(machines.in_use(), 1u);
}

// Says how often it was asked what it takes.
class CountedMachine final : public ConstraintMachine {
 public:
  explicit CountedMachine(std::size_t& asked) : asked_(asked) {}
  MachineState start() override { return 1; }
  MachineState step(MachineState, unsigned char) override { return kDeadState; }
  bool accepting(MachineState) override { return true; }
  std::string shortest_end(MachineState) override { return ""; }
  std::size_t shortest_end_bytes(MachineState) override { return 0; }
  std::string forced(MachineState, std::size_t) override { return ""; }
  std::size_t memory_bytes() const override {
    ++asked_;
    return 10;
  }
  std::unique_ptr<ConstraintMachine> renew() const override {
    return std::make_unique<CountedMachine>(asked_);
  }

 private:
  std::size_t& asked_;
};

TEST_F(LiveMachinesOf, LooksAtAnIdleMachineOnceHoweverManyThereAreAndHoweverOftenItTidies) {
  constexpr std::size_t kMachines = 100;
  std::size_t asked = 0;
  LiveMachines machines(masks);
  CompiledConstraint one;
  one.machine = std::make_shared<CountedMachine>(asked);
  for (one.id = 1; one.id <= kMachines; ++one.id) machines.follow(one);
  EXPECT_LE(asked, 2 * kMachines);
  machines.tidy();
  EXPECT_EQ(machines.memory_bytes(), 10 * kMachines);
  asked = 0;
  for (int i = 0; i < 50; ++i) machines.tidy();
  EXPECT_EQ(asked, 0u);
  one.id = 7;
  const auto followed = machines.follow(one);
  for (int i = 0; i < 50; ++i) machines.tidy();
  EXPECT_EQ(asked, 50u);
  EXPECT_EQ(machines.in_use(), 1u);
  EXPECT_EQ(machines.memory_bytes(), 10 * kMachines);
}

// Drops, follows and lets go at random, beside a plain count.
TEST_F(LiveMachinesOf, KeepsItsBooksWhateverComesAndGoes) {
  std::size_t asked = 0;
  LiveMachines machines(masks, {.idle_bytes_max = 75, .idle_max = 9});
  CompiledConstraint one;
  one.machine = std::make_shared<CountedMachine>(asked);
  std::map<std::uint64_t, std::vector<std::shared_ptr<LiveMachine>>> users;
  Random random(5);
  for (int round = 0; round < 5'000; ++round) {
    one.id = 1 + random.below(30);
    if (random.chance(0.5)) {
      users[one.id].push_back(machines.follow(one));
      EXPECT_EQ(users[one.id].back(), users[one.id].front());
    } else {
      users.erase(one.id);
      machines.tidy();
      EXPECT_LE(machines.size(), users.size() + 7);
    }
    EXPECT_EQ(machines.in_use(), users.size());
    EXPECT_LE(machines.memory_bytes(), 10 * machines.size());
  }
  users.clear();
  machines.tidy();
  EXPECT_EQ(machines.size(), 7u) << "75 bytes";
  EXPECT_EQ(machines.memory_bytes(), 70u);
}

TEST_F(LiveMachinesOf, ForgetsTheMasksOfADroppedMachine) {
  LiveMachines machines(masks, {.idle_max = 0});
  const std::size_t before = masks.memory_bytes();
  use(masks, machines.follow(constraint(1)), "ab");
  ASSERT_GT(masks.memory_bytes(), before);
  machines.tidy();
  EXPECT_EQ(machines.size(), 0u);
  EXPECT_EQ(machines.memory_bytes(), 0u);
  const std::uint64_t built = masks.statistics().built;
  use(masks, machines.follow(constraint(1, "[x-z]{2}")), "xy");
  EXPECT_GT(masks.statistics().built, built) << "another machine under the same number";
}

}  // namespace
}  // namespace zerohop

#include "constrain/live_machine.h"

#include <gtest/gtest.h>

#include "constrain/constraint_session.h"
#include "constrain/constraint_test_kit.h"

namespace zerohop {
namespace {

constexpr std::size_t kStateBytes = 100;

// Any letters a; each step makes a state.
class GrowingMachine final : public ConstraintMachine {
 public:
  MachineState start() override { return 1; }
  MachineState step(MachineState state, unsigned char byte) override {
    if (byte != 'a') return kDeadState;
    bytes_ += kStateBytes;
    return state;
  }
  bool accepting(MachineState) override { return true; }
  std::string shortest_end(MachineState) override { return ""; }
  std::size_t shortest_end_bytes(MachineState) override { return 0; }
  std::string forced(MachineState, std::size_t) override { return ""; }
  std::size_t memory_bytes() const override { return bytes_; }
  std::unique_ptr<ConstraintMachine> renew() const override {
    return std::make_unique<GrowingMachine>();
  }

 private:
  std::size_t bytes_ = 0;
};

struct Growth {
  std::size_t most_bytes = 0;
  std::uint64_t trims = 0;
};

// Users come and go; so many states are made with each token.
Growth grow(LiveMachine& live, std::uint64_t tokens, std::size_t states) {
  Growth growth;
  for (std::uint64_t i = 0; i < tokens; ++i) {
    for (std::size_t n = 0; n < states; ++n) live.machine().step(1, 'a');
    growth.most_bytes = std::max(growth.most_bytes, live.machine().memory_bytes());
    if (!live.note_token()) continue;
    live.trim();
    ++growth.trims;
  }
  return growth;
}

TEST(LiveMachine, StaysBelowACeilingHoweverManyStatesAreMade) {
  constexpr std::size_t kBytesMax = 10'000;
  for (const std::size_t states : {1u, 10u, 100u}) {
    LiveMachine live(std::make_unique<GrowingMachine>(), 1, kBytesMax);
    const Growth growth = grow(live, 100'000, states);
    EXPECT_LE(growth.most_bytes, LiveMachine::kGrowthMax * kBytesMax +
                                     LiveMachine::kTokensALook * states * kStateBytes);
    EXPECT_GT(growth.trims, 10u);
  }
}

TEST(LiveMachine, TakesMoreWhereTrimsFollowEachOtherQuickly) {
  LiveMachine live(std::make_unique<GrowingMachine>(), 1, 10'000);
  EXPECT_EQ(live.limit(), 10'000u);
  live.trim();
  EXPECT_EQ(live.limit(), 20'000u);
  EXPECT_EQ(grow(live, 5'000, 0).trims, 0u);
  live.trim();
  EXPECT_EQ(live.limit(), 10'000u);
}

// Places take what they take: to drop and to find them again all the time would help nobody.
TEST(LiveMachine, IsNotTrimmedForThePlacesOfItsUsers) {
  const auto trie = vocabulary_of({});
  MaskCache masks(trie, 1 << 20);
  const auto live = std::make_shared<LiveMachine>(std::make_unique<GrowingMachine>(), 1, 10'000);
  ConstraintSession session({.machine = live, .masks = &masks, .tokens_max = 20'000});
  constexpr std::size_t kTokens = 10'000;
  for (std::size_t i = 0; i < kTokens; ++i) session.accept('a');
  EXPECT_LE(live->generation(), 12u) << "each trim doubles";
  EXPECT_GE(live->generation(), 3u);
  EXPECT_LE(live->machine().memory_bytes(), 2 * kTokens * kStateBytes);
  live->trim();
  EXPECT_TRUE(session.may_end());
  EXPECT_EQ(live->limit(), 2 * kTokens * kStateBytes);
}

}  // namespace
}  // namespace zerohop

#include "constrain/mask_cache.h"

#include <gtest/gtest.h>

#include "constrain/constraint_session.h"
#include "constrain/constraint_test_kit.h"

namespace zerohop {
namespace {

constexpr std::string_view kAlphabet = "abcdefghijklmnopqrst\"{";

// The mask says of every token of the logits what allows() says.
void expect_exact(MaskCache& cache, ConstraintMachine& machine, std::uint64_t id,
                  MachineState state) {
  const TokenMask& mask = cache.mask(machine, id, state);
  std::size_t count = 0;
  for (std::size_t i = 0; i < cache.tokens().width(); ++i) {
    const auto token = static_cast<Token>(i);
    const bool allowed = cache.allows(machine, state, token);
    ASSERT_EQ(mask.allows(token), allowed) << "token " << token << " state " << state;
    count += allowed ? 1 : 0;
  }
  EXPECT_EQ(mask.count(), count);
}

TEST(MaskCache, AgreesWithEveryTokensOwnWalkForRandomMachinesAndVocabularies) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const auto trie = random_vocabulary(random, kAlphabet);
    MaskCache cache(trie, 1 << 20);
    const auto machine = random_machine(random, kAlphabet);
    MachineState state = machine->start();
    for (int steps = 0; steps < 12; ++steps) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      expect_exact(cache, *machine, 1, state);
      if (HasFatalFailure()) return;
      const auto byte = static_cast<unsigned char>(kAlphabet[random.below(kAlphabet.size())]);
      const MachineState next = machine->step(state, byte);
      if (next != kDeadState) state = next;
    }
  }
}

TEST(MaskCache, AllowsEndTokensExactlyWhereTheMachineAccepts) {
  const auto trie = vocabulary_of({"ab"});
  TableMachine machine({{.next = {{'a', 1}}}, {.next = {}, .accepting = true}});
  MaskCache cache(trie, 1 << 20);
  const MachineState behind = machine.step(machine.start(), 'a');
  for (const Token end : trie->end_tokens()) {
    EXPECT_FALSE(cache.mask(machine, 1, machine.start()).allows(end));
    EXPECT_TRUE(cache.mask(machine, 1, behind).allows(end));
  }
  EXPECT_EQ(cache.mask(machine, 1, machine.start()).ids, (std::vector<Token>{'a'}));
}

TEST(MaskCache, AllowsNoTokenWithoutBytes) {
  const auto trie = vocabulary_of({});
  const auto nothing = static_cast<Token>(trie->tokens()) - 2;  // between the end tokens
  TableMachine machine({{.next = {{'a', 0}}, .accepting = true}});
  MaskCache cache(trie, 1 << 20);
  EXPECT_FALSE(cache.allows(machine, machine.start(), nothing));
  EXPECT_FALSE(cache.allows(machine, machine.start(), -1));
  EXPECT_FALSE(cache.allows(machine, machine.start(), static_cast<Token>(trie->width())));
}

TEST(MaskCache, MakesAMaskOnceUntilItsMachineIsForgotten) {
  const auto trie = vocabulary_of({"ab"});
  TableMachine machine({{.next = {{'a', 0}}, .accepting = true}});
  MaskCache cache(trie, 1 << 20);
  cache.mask(machine, 7, 1);
  cache.mask(machine, 7, 1);
  EXPECT_EQ(cache.statistics().built, 1u);
  EXPECT_EQ(cache.statistics().cache_hits, 1u);
  cache.mask(machine, 8, 1);
  cache.forget(7);
  cache.mask(machine, 8, 1);
  EXPECT_EQ(cache.statistics().built, 2u);
  cache.mask(machine, 7, 1);
  EXPECT_EQ(cache.statistics().built, 3u);
}

TEST(MaskCache, DropsTheMasksOfAMachineThatHasGrownTooLarge) {
  const auto trie = vocabulary_of({"ab"});
  MaskCache cache(trie, 1 << 20);
  TableMachine machine({{.next = {{'a', 0}}, .accepting = true}});
  // A limit of nothing: the machine is replaced as soon as somebody looks.
  const auto live = std::make_shared<LiveMachine>(machine.renew(), 1, 0);
  ConstraintSession session({.machine = live, .masks = &cache, .tokens_max = 100});
  const std::size_t before = cache.memory_bytes();
  const TokenMask mask = session.mask();
  const std::size_t with_mask = cache.memory_bytes();
  EXPECT_GT(with_mask, before);
  for (std::uint64_t i = 0; i < LiveMachine::kTokensALook; ++i) {
    EXPECT_EQ(live->generation(), 0u);
    session.accept('a');
  }
  EXPECT_EQ(live->generation(), 1u);
  EXPECT_LT(cache.memory_bytes(), with_mask);
  EXPECT_EQ(session.mask().ids, mask.ids);
}

TEST(MaskStore, StaysUnderItsLimitAndDropsTheLeastRecentlyUsed) {
  const auto key = [](std::uint32_t state) { return MaskKey{.owner = 1, .state = state}; };
  const auto mask_of = [](std::size_t words) {
    KeptMask kept;
    kept.mask.bits.assign(words, 1);
    return kept;
  };
  MaskStore store(40'000);
  store.keep(key(1), mask_of(1000));
  store.keep(key(2), mask_of(1000));
  store.keep(key(3), mask_of(1000));
  EXPECT_NE(store.find(key(1)), nullptr);
  store.keep(key(4), mask_of(2000));
  EXPECT_LE(store.memory_bytes(), 40'000u);
  EXPECT_NE(store.find(key(1)), nullptr);
  EXPECT_EQ(store.find(key(2)), nullptr);
  EXPECT_NE(store.keep(key(5), mask_of(10'000)), nullptr) << "too large to keep, yet handed out";
  EXPECT_EQ(store.find(key(5)), nullptr);
}

}  // namespace
}  // namespace zerohop

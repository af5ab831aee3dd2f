#include "base/permit.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace zerohop {
namespace {

TEST(PermitPool, GivesNoMoreThanItHas) {
  PermitPool pool(2);
  const std::optional<Permit> first = pool.try_acquire();
  const std::optional<Permit> second = pool.try_acquire();
  EXPECT_TRUE(first.has_value() && second.has_value());
  EXPECT_FALSE(pool.try_acquire().has_value());
  EXPECT_EQ(pool.in_use(), 2u);
  EXPECT_EQ(pool.capacity(), 2u);
}

TEST(PermitPool, TakesADroppedPermitBack) {
  PermitPool pool(1);
  {
    const std::optional<Permit> permit = pool.try_acquire();
    EXPECT_EQ(pool.in_use(), 1u);
  }
  EXPECT_EQ(pool.in_use(), 0u);
  EXPECT_TRUE(pool.try_acquire().has_value());
}

TEST(Permit, MovesItsRightAndLeavesNoneBehind) {
  PermitPool pool(1);
  Permit from = std::move(*pool.try_acquire());
  Permit to = std::move(from);
  EXPECT_FALSE(from.held());
  EXPECT_TRUE(to.held());
  EXPECT_EQ(pool.in_use(), 1u);
}

TEST(Permit, ReturnsItsOwnRightWhenAnotherIsMovedIn) {
  PermitPool pool(2);
  Permit a = std::move(*pool.try_acquire());
  Permit b = std::move(*pool.try_acquire());
  a = std::move(b);
  EXPECT_TRUE(a.held());
  EXPECT_EQ(pool.in_use(), 1u);
}

TEST(Permit, ReleasesOnce) {
  PermitPool pool(1);
  Permit permit = std::move(*pool.try_acquire());
  permit.release();
  permit.release();
  EXPECT_FALSE(permit.held());
  EXPECT_EQ(pool.in_use(), 0u);
}

TEST(Permit, HoldsNothingByDefault) { EXPECT_FALSE(Permit().held()); }

TEST(PermitPool, NeverExceedsItsCapacityUnderManyThreads) {
  constexpr std::size_t kCapacity = 3;
  PermitPool pool(kCapacity);
  std::atomic<std::size_t> inside{0};
  std::atomic<bool> exceeded{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5'000; ++round) {
        const std::optional<Permit> permit = pool.try_acquire();
        if (!permit) continue;
        if (inside.fetch_add(1) + 1 > kCapacity) exceeded = true;
        inside.fetch_sub(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(exceeded.load());
  EXPECT_EQ(pool.in_use(), 0u);
}

TEST(PermitPoolDeathTest, CrashesWhenAPermitOutlivesIt) {
  EXPECT_DEATH(
      {
        Permit permit;
        PermitPool pool(1);
        permit = std::move(*pool.try_acquire());
      },
      "check failed");
}

TEST(PermitPool, TakesAnotherCapacityWhilePermitsAreOut) {
  PermitPool pool(2);
  auto first = pool.try_acquire();
  auto second = pool.try_acquire();
  EXPECT_FALSE(pool.try_acquire().has_value());
  pool.set_capacity(3);
  EXPECT_TRUE(pool.try_acquire().has_value());
  pool.set_capacity(1);
  second.reset();
  EXPECT_FALSE(pool.try_acquire().has_value());
  first.reset();
  EXPECT_TRUE(pool.try_acquire().has_value());
}

}  // namespace
}  // namespace zerohop

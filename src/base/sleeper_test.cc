#include "base/sleeper.h"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>

namespace zerohop {
namespace {

TEST(Sleeper, IsRousedOnceForEachTimeThatItSleeps) {
  Sleeper sleeper;
  EXPECT_FALSE(sleeper.rouse());
  sleeper.fall_asleep();
  EXPECT_TRUE(sleeper.rouse());
  EXPECT_FALSE(sleeper.rouse());
  sleeper.fall_asleep();
  sleeper.get_up();
  EXPECT_FALSE(sleeper.rouse());
}

TEST(Sleeper, DoesNotSleepWhenItWasRousedBefore) {
  Sleeper sleeper;
  sleeper.fall_asleep();
  EXPECT_TRUE(sleeper.rouse());
  sleeper.await_wake(std::nullopt);  // or the test never ends
}

TEST(Sleeper, SleepsNoLongerThanItIsToldTo) {
  Sleeper sleeper;
  sleeper.fall_asleep();
  sleeper.await_wake(std::chrono::milliseconds(1));
  sleeper.await_wake(Duration::zero());
  sleeper.await_wake(Duration::min());
  EXPECT_TRUE(sleeper.rouse());
}

// Two threads that hand a number to and fro: one lost wake-up, and it never ends.
TEST(Sleeper, LosesNoWakeUp) {
  constexpr int kTurns = 20'000;
  std::mutex mutex;
  int turn = 0;  // guarded by mutex
  Sleeper sleepers[2];
  const auto play = [&](int me) {
    for (int next = me; next < kTurns; next += 2) {
      std::unique_lock lock(mutex);
      while (turn != next) {
        sleepers[me].fall_asleep();
        lock.unlock();
        sleepers[me].await_wake(std::nullopt);
        lock.lock();
      }
      ++turn;
      const bool sleeps = sleepers[1 - me].rouse();
      lock.unlock();
      if (sleeps) sleepers[1 - me].wake();
    }
  };
  std::thread other([&] { play(1); });
  play(0);
  other.join();
  EXPECT_EQ(turn, kTurns);
}

}  // namespace
}  // namespace zerohop

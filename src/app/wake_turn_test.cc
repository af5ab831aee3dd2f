#include "app/wake_turn.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>

namespace zerohop {
namespace {

namespace asio = boost::asio;

// Coroutines that write their name down each time they are woken.
class WakingTurns : public testing::Test {
 protected:
  void spawn(WaitSlot& slot, char name, int times = 1) {
    asio::co_spawn(
        io_,
        [this, &slot, name, times]() -> Awaitable<void> {
          for (int i = 0; i < times; ++i) {
            co_await slot.wait();
            log_ += name;
          }
        },
        asio::detached);
    go_on();
  }
  void go_on() {
    io_.restart();
    io_.poll();
  }

  asio::io_context io_{1};
  WakeTurns& turns_ = WakeTurns::of(io_.get_executor());
  std::string log_;
  std::function<void()> turn_;
};

TEST_F(WakingTurns, ResumesWhenTheTurnHasToldEverybody) {
  WaitSlot first(io_.get_executor());
  WaitSlot second(io_.get_executor());
  spawn(first, 'a');
  spawn(second, 'b');
  turns_.run([&] {
    first.wake();
    log_ += '1';
    second.wake();
    log_ += '2';
  });
  EXPECT_EQ(log_, "12ab") << "without a turn of the event loop in between";
}

TEST_F(WakingTurns, OutsideOfATurnItTakesOneOfTheEventLoop) {
  WaitSlot slot(io_.get_executor());
  spawn(slot, 'a');
  slot.wake();
  EXPECT_EQ(log_, "");
  go_on();
  EXPECT_EQ(log_, "a");
}

TEST_F(WakingTurns, WakesNobodyTwiceForOneWait) {
  WaitSlot slot(io_.get_executor());
  spawn(slot, 'a', 2);
  turns_.run([&] {
    slot.wake();
    slot.wake();
  });
  go_on();
  EXPECT_EQ(log_, "a");
  EXPECT_TRUE(slot.waiting());
  turns_.run([&] { slot.wake(); });
  EXPECT_EQ(log_, "aa");
  EXPECT_FALSE(slot.waiting());
  slot.wake();  // nobody
  go_on();
  EXPECT_EQ(log_, "aa");
}

TEST_F(WakingTurns, WhomAResumedOneWakesHasToWaitForTheEventLoop) {
  WaitSlot first(io_.get_executor());
  WaitSlot second(io_.get_executor());
  spawn(second, 'b');
  asio::co_spawn(
      io_,
      [&]() -> Awaitable<void> {
        co_await first.wait();
        second.wake();
        log_ += 'a';
      },
      asio::detached);
  go_on();
  turns_.run([&] { first.wake(); });
  EXPECT_EQ(log_, "a");
  go_on();
  EXPECT_EQ(log_, "ab");
}

TEST_F(WakingTurns, MayEndTheSlotItWasWokenIn) {
  asio::co_spawn(
      io_,
      [this]() -> Awaitable<void> {
        WaitSlot own(io_.get_executor());
        turn_ = [this, &own] { turns_.run([&own] { own.wake(); }); };
        co_await own.wait();
        log_ += 'a';
      },
      asio::detached);
  go_on();
  turn_();
  EXPECT_EQ(log_, "a");
}

TEST(WakeTurns, WhoStillWaitsGoesWithTheIoContext) {
  const auto held = std::make_shared<int>(1);
  {
    asio::io_context io{1};
    asio::co_spawn(
        io,
        [&io, held]() -> Awaitable<void> {
          WaitSlot own(io.get_executor());
          co_await own.wait();
          ADD_FAILURE() << "woken";
        },
        asio::detached);
    io.poll();
    EXPECT_GT(held.use_count(), 1);
  }
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace zerohop

#include "app/io_mailbox.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace zerohop {
namespace {

namespace asio = boost::asio;

TEST(IoMailbox, DoesOnTheIoThreadWhatAnotherOneAskedFor) {
  asio::io_context io{1};
  std::optional<std::thread::id> where;
  std::thread other([&] {
    IoMailbox::of(io.get_executor()).post(io.get_executor(), [&] {
      where = std::this_thread::get_id();
    });
  });
  other.join();
  io.run();
  EXPECT_EQ(where, std::this_thread::get_id());
}

TEST(IoMailbox, WakesAnIoThreadThatSleeps) {
  asio::io_context io{1};
  IoMailbox& box = IoMailbox::of(io.get_executor());
  const auto guard = asio::make_work_guard(io);
  std::thread sleeper([&io] { io.run(); });
  // Each answer asks the next question, so the I/O thread has gone to sleep in between.
  std::atomic<int> count{0};
  for (int i = 0; i < 200; ++i) {
    box.post(io.get_executor(), [&count] { ++count; });
    while (count.load() != i + 1) std::this_thread::yield();
  }
  io.stop();
  sleeper.join();
  EXPECT_EQ(count.load(), 200);
}

TEST(IoMailbox, KeepsTheOrderOfEachThreadAndLosesNothing) {
  asio::io_context io{1};
  IoMailbox& box = IoMailbox::of(io.get_executor());
  constexpr int kEach = 5'000;
  std::vector<std::vector<int>> got(3);
  std::vector<std::thread> threads;
  std::optional guard(asio::make_work_guard(io));
  int left = 3 * kEach;
  for (std::size_t t = 0; t < got.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        box.post(io.get_executor(), [&, t, i] {
          got[t].push_back(i);
          if (--left == 0) guard.reset();
        });
      }
    });
  }
  io.run();
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<int>& one : got) {
    ASSERT_EQ(one.size(), static_cast<std::size_t>(kEach));
    for (int i = 0; i < kEach; ++i) ASSERT_EQ(one[static_cast<std::size_t>(i)], i);
  }
}

TEST(IoMailbox, WhatWaitsKeepsTheLoopGoingAndAnEmptyBoxDoesNot) {
  asio::io_context io{1};
  IoMailbox& box = IoMailbox::of(io.get_executor());
  io.run();  // returns
  io.restart();
  bool done = false;
  box.post(io.get_executor(), [&done] { done = true; });
  io.run();
  EXPECT_TRUE(done);
}

TEST(IoMailbox, MayBeWrittenToByWhatItDoes) {
  asio::io_context io{1};
  IoMailbox& box = IoMailbox::of(io.get_executor());
  int depth = 0;
  std::function<void()> again = [&] {
    if (++depth < 5) box.post(io.get_executor(), again);
  };
  box.post(io.get_executor(), again);
  io.run();
  EXPECT_EQ(depth, 5);
}

TEST(IoMailbox, LetsTimersAndPostsHaveTheirTurn) {
  asio::io_context io{1};
  IoMailbox& box = IoMailbox::of(io.get_executor());
  bool posted = false;
  bool fired = false;
  asio::steady_timer timer(io, std::chrono::milliseconds(1));
  timer.async_wait([&](const boost::system::error_code& fault) { fired = !fault; });
  box.post(io.get_executor(), [&] { asio::post(io, [&posted] { posted = true; }); });
  io.run();
  EXPECT_TRUE(posted);
  EXPECT_TRUE(fired);
}

TEST(IoMailbox, WhatWasNotDoneGoesWithTheIoContext) {
  const auto held = std::make_shared<int>(1);
  {
    asio::io_context io{1};
    IoMailbox::of(io.get_executor()).post(io.get_executor(), [held] { FAIL() << "ran"; });
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace zerohop

#include "app/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <latch>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace zerohop {
namespace {

namespace asio = boost::asio;

TEST(WorkerPool, DoesAllThatWasPostedBeforeItEnds) {
  std::atomic<int> done{0};
  WorkerPool pool(3);
  for (int i = 0; i < 1'000; ++i) {
    pool.post([&done] { ++done; });
  }
  pool.join();
  EXPECT_EQ(done.load(), 1'000);
}

TEST(WorkerPool, DoesWhatWorkPostsBeforeItEnds) {
  std::atomic<int> done{0};
  WorkerPool pool(1);
  pool.post([&] { pool.post([&] { ++done; }); });
  pool.join();
  EXPECT_EQ(done.load(), 1);
}

TEST(WorkerPool, OneThreadKeepsTheOrder) {
  std::vector<int> order;
  WorkerPool pool(1);
  for (int i = 0; i < 100; ++i) {
    pool.post([&order, i] { order.push_back(i); });
  }
  pool.join();
  for (int i = 0; i < 100; ++i) ASSERT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(WorkerPool, AllThreadsWorkAtTheSameTime) {
  constexpr int kThreads = 4;
  std::latch met(kThreads);
  WorkerPool pool(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    pool.post([&met] { met.arrive_and_wait(); });
  }
  pool.join();  // or never, if one of them has to wait for another
}

// Each waits for an idle pool, so that it has to wake somebody.
TEST(WorkerPool, WakesSomebodyForEachPieceOfWork) {
  WorkerPool pool(2);
  for (int i = 0; i < 2'000; ++i) {
    std::latch done(1);
    pool.post([&done] { done.count_down(); });
    done.wait();
  }
}

TEST(WorkerPool, WhatHasNotBegunGoesWithIt) {
  const auto token = std::make_shared<int>(0);
  std::latch begun(1);
  std::latch go_on(1);
  std::atomic<bool> ran{false};
  std::thread helper;
  {
    WorkerPool pool(1);
    pool.post([&] {
      begun.count_down();
      go_on.wait();
    });
    begun.wait();
    pool.post([&ran, token] { ran = true; });
    // The pool's only thread goes on when what waits behind it is gone.
    helper = std::thread([&] {
      while (token.use_count() > 1) std::this_thread::yield();
      go_on.count_down();
    });
  }
  helper.join();
  EXPECT_FALSE(ran.load());
  EXPECT_EQ(token.use_count(), 1);
}

TEST(WorkerPool, NothingRunsOnceItWasJoined) {
  const auto token = std::make_shared<int>(0);
  bool ran = false;
  {
    WorkerPool pool(2);
    pool.join();
    pool.post([&ran, token] { ran = true; });
    pool.join();
  }
  EXPECT_FALSE(ran);
  EXPECT_EQ(token.use_count(), 1);
}

TEST(WorkerPool, ResumesACoroutineWithTheResult) {
  asio::io_context io;
  WorkerPool pool(2);
  const std::thread::id home = std::this_thread::get_id();
  std::unique_ptr<int> result;
  bool elsewhere = false;
  bool back = false;
  auto ask = [&]() -> Awaitable<void> {
    auto work = [&elsewhere, home] {
      elsewhere = std::this_thread::get_id() != home;
      return std::make_unique<int>(7);
    };
    result = co_await run_on_worker(pool, std::move(work));
    back = std::this_thread::get_id() == home;
  };
  asio::co_spawn(io, ask, asio::detached);
  io.run();
  pool.join();
  ASSERT_NE(result, nullptr);
  EXPECT_EQ(*result, 7);
  EXPECT_TRUE(elsewhere);
  EXPECT_TRUE(back);
}

}  // namespace
}  // namespace zerohop

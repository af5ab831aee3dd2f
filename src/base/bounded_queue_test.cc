#include "base/bounded_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace zerohop {
namespace {

TEST(BoundedQueue, GivesItemsInOrder) {
  BoundedQueue<int> queue(3);
  EXPECT_TRUE(queue.try_push(1));
  EXPECT_TRUE(queue.try_push(2));
  EXPECT_TRUE(queue.try_push(3));
  EXPECT_EQ(queue.size(), 3u);
  std::vector<int> out{0};
  queue.drain(out);
  EXPECT_EQ(out, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(queue.size(), 0u);
}

TEST(BoundedQueue, RefusesWhenFullAndLeavesTheItemAlone) {
  BoundedQueue<std::unique_ptr<int>> queue(1);
  EXPECT_TRUE(queue.try_push(std::make_unique<int>(1)));
  auto refused = std::make_unique<int>(2);
  EXPECT_FALSE(queue.try_push(std::move(refused)));
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(*refused, 2);
}

TEST(BoundedQueue, HasRoomAgainAfterDrain) {
  BoundedQueue<int> queue(1);
  std::vector<int> out;
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(queue.try_push(int{i}));
    EXPECT_FALSE(queue.try_push(99));
    queue.drain(out);
  }
  EXPECT_EQ(out.size(), 10u);
  EXPECT_EQ(out.back(), 9);
}

TEST(BoundedQueue, RefusesAfterCloseButStillGivesWhatItHas) {
  BoundedQueue<int> queue(2);
  EXPECT_TRUE(queue.try_push(1));
  EXPECT_FALSE(queue.closed());
  queue.close();
  EXPECT_TRUE(queue.closed());
  EXPECT_FALSE(queue.try_push(2));
  EXPECT_TRUE(queue.wait());
  std::vector<int> out;
  queue.drain(out);
  EXPECT_EQ(out, (std::vector<int>{1}));
  EXPECT_FALSE(queue.wait());
}

TEST(BoundedQueue, WaitReturnsAtOnceAfterAWake) {
  BoundedQueue<int> queue(1);
  queue.wake();
  EXPECT_TRUE(queue.wait());
  std::vector<int> out;
  queue.drain(out);
  EXPECT_TRUE(out.empty());
}

TEST(BoundedQueue, WaitsNoLongerThanItIsToldTo) {
  BoundedQueue<int> queue(1);
  EXPECT_TRUE(queue.wait_for(Duration::zero()));  // nothing is there
  EXPECT_TRUE(queue.try_push(1));
  EXPECT_TRUE(queue.wait_for(std::chrono::hours(1)));
  std::vector<int> out;
  queue.drain(out);
  queue.close();
  EXPECT_FALSE(queue.wait_for(std::chrono::hours(1)));
}

TEST(BoundedQueue, WakesAConsumerThatSleeps) {
  BoundedQueue<int> queue(1);
  std::atomic<int> wakes{0};
  std::thread consumer([&] {
    std::vector<int> out;
    while (queue.wait()) {
      queue.drain(out);
      ++wakes;
      wakes.notify_all();
    }
  });
  queue.wake();
  wakes.wait(0);
  queue.close();
  consumer.join();
  EXPECT_GE(wakes.load(), 1);
}

TEST(BoundedQueue, WakesAConsumerThatSleepsUntilSomeTime) {
  BoundedQueue<int> queue(1);
  std::vector<int> out;
  std::thread consumer([&] {
    while (out.empty()) {
      queue.wait_for(std::chrono::hours(1));
      queue.drain(out);
    }
  });
  EXPECT_TRUE(queue.try_push(7));
  consumer.join();
  EXPECT_EQ(out, (std::vector<int>{7}));
}

TEST(BoundedQueue, LosesNothingBetweenManyProducersAndOneConsumer) {
  constexpr int kProducers = 4;
  constexpr int kPerProducer = 5'000;
  BoundedQueue<int> queue(64);
  std::vector<std::thread> producers;
  for (int producer = 0; producer < kProducers; ++producer) {
    producers.emplace_back([&queue, producer] {
      for (int i = 0; i < kPerProducer; ++i) {
        while (!queue.try_push(producer * kPerProducer + i)) std::this_thread::yield();
      }
    });
  }
  std::vector<int> out;
  while (out.size() < static_cast<std::size_t>(kProducers) * kPerProducer && queue.wait()) {
    queue.drain(out);
  }
  for (std::thread& thread : producers) thread.join();

  std::vector<int> next(kProducers, 0);  // each producer's items come in its own order
  for (const int item : out) {
    const auto producer = static_cast<std::size_t>(item / kPerProducer);
    ASSERT_EQ(item % kPerProducer, next[producer]++);
  }
  EXPECT_EQ(next, std::vector<int>(kProducers, kPerProducer));
}

}  // namespace
}  // namespace zerohop

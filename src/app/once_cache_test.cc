#include "app/once_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

namespace zerohop {
namespace {

using Texts = OnceCache<std::string>;

Texts::Made made(std::string text, std::size_t bytes = 1) {
  return {std::make_shared<const std::string>(std::move(text)), bytes};
}

TEST(OnceCache, MakesAThingOnce) {
  Texts cache(10'000);
  int times = 0;
  const auto make = [&] { return made("v" + std::to_string(++times)); };
  EXPECT_EQ(*cache.get("a", make), "v1");
  EXPECT_EQ(*cache.get("a", make), "v1");
  EXPECT_EQ(*cache.get("b", make), "v2");
  EXPECT_EQ(cache.counts().hits, 1u);
  EXPECT_EQ(cache.counts().misses, 2u);
}

TEST(OnceCache, DropsWhatWasUsedLeastLately) {
  Texts cache(2'500);
  const auto large = [] { return made("x", 1'000); };
  for (const char* key : {"a", "b", "a", "c"}) cache.get(key, large);  // b goes
  int times = 0;
  const auto count = [&] {
    ++times;
    return made("again", 1'000);
  };
  cache.get("a", count);
  EXPECT_EQ(times, 0);
  cache.get("b", count);
  EXPECT_EQ(times, 1);
  EXPECT_LE(cache.counts().bytes, 2'500u);
}

TEST(OnceCache, KeepsNeitherWhatIsTooLargeNorWhatIsNotToBeKept) {
  Texts cache(500);
  EXPECT_EQ(*cache.get("large", [] { return made("x", 1'000); }), "x");
  EXPECT_EQ(*cache.get("fault",
                       [] {
                         Texts::Made fault = made("y");
                         fault.kept = false;
                         return fault;
                       }),
            "y");
  EXPECT_EQ(cache.counts().entries, 0u);
}

TEST(OnceCache, LetsOthersWaitForWhatIsBeingMade) {
  Texts cache(10'000);
  std::atomic<int> times = 0;
  std::latch all(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      all.arrive_and_wait();
      EXPECT_EQ(*cache.get("a",
                           [&] {
                             ++times;
                             return made("v");
                           }),
                "v");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(times, 1);
  EXPECT_EQ(cache.counts().misses, 1u);
  EXPECT_EQ(cache.counts().hits + cache.counts().joined, 3u);
}

// Four that ask for the same costly refusal hold their threads for one making of it.
TEST(OnceCache, GivesThoseWhoWaitAlsoWhatIsNotKept) {
  Texts cache(10'000);
  std::atomic<int> times = 0;
  std::atomic<bool> waited_for = false;
  const auto refuse = [&] {
    ++times;
    while (!waited_for) std::this_thread::yield();
    Texts::Made refusal = made("no");
    refusal.kept = false;
    return refusal;
  };
  std::vector<std::thread> threads;
  threads.emplace_back([&] { EXPECT_EQ(*cache.get("a", refuse), "no"); });
  while (times == 0) std::this_thread::yield();
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] { EXPECT_EQ(*cache.get("a", refuse), "no"); });
  }
  while (cache.counts().waiting < 3) std::this_thread::yield();
  waited_for = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(times, 1);
  EXPECT_EQ(cache.counts().entries, 0u);
  EXPECT_EQ(cache.counts().joined, 3u);
  EXPECT_EQ(cache.counts().hits, 0u) << "nothing was there";
  EXPECT_EQ(cache.counts().misses, 1u);
}

// What is made for one caller alone is made once more by each that waited, and counts so.
TEST(OnceCache, CountsEachCallerOnce) {
  Texts cache(10'000);
  std::atomic<int> times = 0;
  std::atomic<bool> waited_for = false;
  const auto refuse = [&] {
    ++times;
    while (!waited_for) std::this_thread::yield();
    Texts::Made refusal = made("no");
    refusal.kept = refusal.for_waiters = false;
    return refusal;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] { EXPECT_EQ(*cache.get("a", refuse), "no"); });
  }
  while (cache.counts().waiting < 2) std::this_thread::yield();
  waited_for = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(times, 3);
  EXPECT_EQ(cache.counts().misses, 3u);
  EXPECT_EQ(cache.counts().hits + cache.counts().joined, 0u);
}

}  // namespace
}  // namespace zerohop

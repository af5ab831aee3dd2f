#include "prompt/token_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace zerohop {
namespace {

TokenCache::SharedTokens tokens(std::vector<Token> list) {
  return std::make_shared<const std::vector<Token>>(std::move(list));
}

TEST(TokenCache, GivesWhatWasInserted) {
  TokenCache cache(TokenCacheLimits{});
  EXPECT_EQ(cache.find("a"), nullptr);
  cache.insert("a", tokens({1, 2}));
  ASSERT_NE(cache.find("a"), nullptr);
  EXPECT_EQ(*cache.find("a"), (std::vector<Token>{1, 2}));
  EXPECT_EQ(cache.find("ab"), nullptr);
}

TEST(TokenCache, DropsWhatWasNotUsedForLongest) {
  TokenCache cache({.entries = 2, .bytes = 1u << 20});
  cache.insert("a", tokens({1}));
  cache.insert("b", tokens({2}));
  EXPECT_NE(cache.find("a"), nullptr);
  cache.insert("c", tokens({3}));
  EXPECT_EQ(cache.find("b"), nullptr);
  EXPECT_NE(cache.find("a"), nullptr);
  EXPECT_NE(cache.find("c"), nullptr);
  EXPECT_EQ(cache.size(), 2u);
}

TEST(TokenCache, KeepsWithinItsBytesAndGivesBackWhatItDropped) {
  TokenCache cache({.entries = 1'000, .bytes = 4'000});
  for (int i = 0; i < 100; ++i) {
    cache.insert(std::to_string(i) + std::string(300, 'x'), tokens(std::vector<Token>(50, i)));
    EXPECT_LE(cache.bytes(), 4'000u);
  }
  EXPECT_GT(cache.size(), 1u);
  cache.insert(std::string(2'000, 'y'), tokens({1}));
  EXPECT_EQ(cache.find(std::string(2'000, 'y')), nullptr) << "more than a quarter alone";
}

TEST(TokenCache, KeepsAnEntryThatIsInsertedTwice) {
  TokenCache cache(TokenCacheLimits{});
  cache.insert("a", tokens({1}));
  const std::size_t bytes = cache.bytes();
  cache.insert("a", tokens({1}));
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_EQ(cache.bytes(), bytes);
}

TEST(TokenCache, IsSharedByThreads) {
  TokenCache cache({.entries = 8, .bytes = 1u << 20});
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&cache, thread] {
      for (int i = 0; i < 2'000; ++i) {
        const int number = (i * 7 + thread) % 12;
        const auto found = cache.find(std::to_string(number));
        if (found == nullptr) {
          cache.insert(std::to_string(number), tokens({number}));
        } else {
          EXPECT_EQ(*found, std::vector<Token>{number});
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cache.size(), 8u);
}

}  // namespace
}  // namespace zerohop

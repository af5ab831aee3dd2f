#include "prompt/shape_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace zerohop {
namespace {

std::shared_ptr<const ShapeRendering> rendering(std::string text) {
  auto shape = std::make_shared<ShapeRendering>();
  shape->text = std::move(text);
  return shape;
}

TEST(ShapeCache, GivesWhatWasInserted) {
  ShapeCache cache(ShapeCache::Limits{});
  EXPECT_EQ(cache.find("su"), nullptr);
  cache.insert("su", rendering("text"));
  ASSERT_NE(cache.find("su"), nullptr);
  EXPECT_EQ(cache.find("su")->text, "text");
  EXPECT_EQ(cache.find("u"), nullptr);
}

TEST(ShapeCache, DropsTheEntryThatWasNotUsedForLongest) {
  ShapeCache cache({.entries = 2, .bytes = 1'000});
  cache.insert("a", rendering("1"));
  cache.insert("b", rendering("2"));
  EXPECT_NE(cache.find("a"), nullptr);
  cache.insert("c", rendering("3"));
  EXPECT_EQ(cache.find("b"), nullptr);
  EXPECT_NE(cache.find("a"), nullptr);
  EXPECT_NE(cache.find("c"), nullptr);
  EXPECT_EQ(cache.size(), 2u);
}

TEST(ShapeCache, KeepsWithinItsBytes) {
  ShapeCache cache({.entries = 100, .bytes = 100});
  cache.insert("a", rendering(std::string(60, 'x')));
  cache.insert("b", rendering(std::string(60, 'y')));
  EXPECT_EQ(cache.find("a"), nullptr);
  EXPECT_NE(cache.find("b"), nullptr);
  cache.insert("c", rendering(std::string(200, 'z')));
  EXPECT_EQ(cache.find("c"), nullptr) << "larger than the whole cache";
  EXPECT_NE(cache.find("b"), nullptr);
}

TEST(ShapeCache, GivesBytesBackThatItDropped) {
  ShapeCache cache({.entries = 2, .bytes = 130});
  for (int i = 0; i < 50; ++i) cache.insert(std::to_string(i), rendering(std::string(60, 'x')));
  EXPECT_EQ(cache.size(), 2u);
}

TEST(ShapeCache, KeepsTheFirstOfTwoRenderings) {
  ShapeCache cache(ShapeCache::Limits{});
  cache.insert("a", rendering("first"));
  cache.insert("a", rendering("second"));
  EXPECT_EQ(cache.find("a")->text, "first");
  EXPECT_EQ(cache.size(), 1u);
}

TEST(ShapeCache, IsSharedByThreads) {
  ShapeCache cache({.entries = 8, .bytes = 1'000});
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&cache, thread] {
      for (int i = 0; i < 2'000; ++i) {
        const std::string key = std::to_string((i * 7 + thread) % 12);
        const auto found = cache.find(key);
        if (found == nullptr) {
          cache.insert(key, rendering(key));
        } else {
          EXPECT_EQ(found->text, key);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cache.size(), 8u);
}

}  // namespace
}  // namespace zerohop

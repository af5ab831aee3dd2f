#include "engine/token_stream.h"

#include <gtest/gtest.h>

#include <thread>

namespace zerohop {
namespace {

TEST(TokenStream, GivesEventsInOrderAndSaysWhenItIsOver) {
  TokenStream stream([] {});
  std::vector<Event> events;
  stream.push(Started{});
  EXPECT_FALSE(stream.read(events));
  stream.push(TextDelta{"a"});
  stream.push(Finished{});
  EXPECT_TRUE(stream.read(events));
  ASSERT_EQ(events.size(), 3u);
  EXPECT_TRUE(is_terminal(events[2]));
}

TEST(TokenStream, MergesTextThatNobodyHasRead) {
  TokenStream stream([] {});
  stream.push(TextDelta{"a"});
  stream.push(TextDelta{"b"});
  std::vector<Event> events;
  stream.read(events);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(std::get<TextDelta>(events[0]).text, "ab");
}

TEST(TokenStream, IsFullByBytesAndRingsWhenReadEmpty) {
  int rings = 0;
  TokenStream stream([&rings] { ++rings; }, 4);
  std::vector<Event> events;
  stream.push(TextDelta{"abc"});
  EXPECT_TRUE(stream.has_room());
  stream.read(events);
  EXPECT_EQ(rings, 0);
  stream.push(TextDelta{"abcd"});
  EXPECT_FALSE(stream.has_room());
  stream.read(events);
  EXPECT_EQ(rings, 1);
  EXPECT_TRUE(stream.has_room());
}

TEST(TokenStream, CancelsOnceAndRings) {
  int rings = 0;
  TokenStream stream([&rings] { ++rings; });
  stream.cancel();
  stream.cancel();
  EXPECT_TRUE(stream.cancelled());
  EXPECT_EQ(rings, 1);
}

TEST(TokenStream, LosesNothingBetweenTwoThreads) {
  TokenStream stream([] {});
  std::thread engine([&stream] {
    for (int i = 0; i < 20000; ++i) stream.push(TextDelta{"x"});
    stream.push(Finished{});
  });
  std::vector<Event> events;
  while (!stream.read(events)) {
  }
  engine.join();
  std::size_t bytes = 0;
  for (const Event& event : events) {
    if (const auto* delta = std::get_if<TextDelta>(&event)) bytes += delta->text.size();
  }
  EXPECT_EQ(bytes, 20000u);
}

}  // namespace
}  // namespace zerohop

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

TEST(TokenStream, MergesEachKindOfDeltaWithItsOwn) {
  TokenStream stream([] {});
  for (const char* part : {"a", "b"}) stream.push(ThinkingDelta{part});
  stream.push(TextDelta{"text"});
  stream.push(ToolCallStarted{"call", "look"});
  for (const char* part : {"{", "}"}) stream.push(ToolCallDelta{part});
  stream.push(ToolCallStarted{"call2", "look"});
  stream.push(ToolCallDelta{"{}"});
  std::vector<Event> events;
  stream.read(events);
  ASSERT_EQ(events.size(), 6u);
  EXPECT_EQ(std::get<ThinkingDelta>(events[0]).text, "ab");
  EXPECT_EQ(std::get<TextDelta>(events[1]).text, "text");
  EXPECT_EQ(std::get<ToolCallDelta>(events[3]).json, "{}");
  EXPECT_EQ(std::get<ToolCallStarted>(events[4]).id, "call2");
  EXPECT_EQ(std::get<ToolCallDelta>(events[5]).json, "{}");
}

TEST(TokenStream, KeepsTextOnItsOwnSideOfLogprobs) {
  TokenStream stream([] {});
  for (const char* part : {"a", "b"}) {
    stream.push(TokenLogprobs{});
    stream.push(TextDelta{part});
  }
  std::vector<Event> events;
  stream.read(events);
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(std::get<TextDelta>(events[1]).text, "a");
  EXPECT_EQ(std::get<TextDelta>(events[3]).text, "b");
}

TEST(TokenStream, IsFullOfUnreadLogprobsAndThoughtsAsWell) {
  TokenStream logprobs([] {}, 3 * sizeof(TokenChance));
  logprobs.push(TokenLogprobs{});
  EXPECT_TRUE(logprobs.has_room());
  logprobs.push(TokenLogprobs{{}, {TokenChance{}}});
  EXPECT_FALSE(logprobs.has_room());
  TokenStream thoughts([] {}, 4);
  thoughts.push(ThinkingDelta{"abcd"});
  EXPECT_FALSE(thoughts.has_room());
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

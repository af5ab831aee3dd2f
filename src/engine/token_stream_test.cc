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

TEST(TokenStream, ItsReadersMayMoveItsDeadline) {
  int rings = 0;
  TokenStream stream([&rings] { ++rings; });
  const TimePoint asked{std::chrono::seconds(5)};
  const TimePoint later{std::chrono::seconds(9)};
  EXPECT_EQ(stream.deadline(asked), asked);
  EXPECT_EQ(stream.deadline(std::nullopt), std::nullopt);
  stream.set_deadline(later);
  EXPECT_EQ(stream.deadline(asked), later);
  EXPECT_EQ(stream.deadline(std::nullopt), later);
  stream.set_deadline(std::nullopt);
  EXPECT_EQ(stream.deadline(asked), std::nullopt);
  EXPECT_EQ(rings, 2);
}

// ---- Read at the end ----

TEST(TokenStream, WakesForEachEventUnlessItIsReadAtItsEnd) {
  const VirtualClock clock;
  TokenStream told([] {});
  EXPECT_TRUE(told.push(Started{}));
  EXPECT_TRUE(told.push(TextDelta{"a"}));
  TokenStream left([] {});
  left.wake_at_end(clock);
  EXPECT_FALSE(left.push(Started{}));
  EXPECT_FALSE(left.push(TextDelta{"a"}));
  EXPECT_TRUE(left.push(Finished{}));
}

TEST(TokenStream, WakesForAFailureAtOnce) {
  const VirtualClock clock;
  TokenStream stream([] {});
  stream.wake_at_end(clock);
  EXPECT_TRUE(stream.push(Failed{}));
}

TEST(TokenStream, WakesWhenHalfOfItsRoomIsTakenSoThatNobodyIsPaused) {
  const VirtualClock clock;
  TokenStream stream([] {}, 8);
  stream.wake_at_end(clock);
  EXPECT_FALSE(stream.push(TextDelta{"abc"}));
  EXPECT_TRUE(stream.push(TextDelta{"d"}));
  EXPECT_TRUE(stream.has_room());
  std::vector<Event> events;
  stream.read(events);
  EXPECT_FALSE(stream.push(TextDelta{"e"}));
}

TEST(TokenStream, WakesOnceInSoManyTokensSoThatTimesStayFew) {
  const VirtualClock clock;
  TokenStream stream([] {});
  stream.wake_at_end(clock);
  for (int i = 0; i < 255; ++i) ASSERT_FALSE(stream.push(TextDelta{"x"})) << i;
  EXPECT_TRUE(stream.push(TextDelta{"x"}));
  std::vector<TimedEvent> events;
  stream.read(events);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].came_at.size(), 256u);
  EXPECT_FALSE(stream.push(TextDelta{"x"}));
}

TEST(TokenStream, TellsLaterWhenEachPartOfItCame) {
  VirtualClock clock;
  TokenStream stream([] {});
  stream.wake_at_end(clock);
  stream.push(Started{});
  std::vector<TimePoint> times;
  for (const char* text : {"a", "b"}) {
    clock.advance(std::chrono::milliseconds(5));
    stream.push(TextDelta{text});
    times.push_back(clock.now());
  }
  clock.advance(std::chrono::hours(1));
  std::vector<TimedEvent> events;
  stream.read(events);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].came_at, std::vector<TimePoint>{TimePoint{}});
  EXPECT_EQ(events[1].came_at, times);
}

TEST(TokenStream, HasNoTimesWhereItsEventsAreReadAsTheyCome) {
  TokenStream stream([] {});
  stream.push(TextDelta{"a"});
  std::vector<TimedEvent> events;
  stream.read(events);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_TRUE(events[0].came_at.empty());
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

#include "engine/waiting_room.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

constexpr TimePoint kNow{std::chrono::seconds(1)};

FairQueueOptions two_at_once() {
  FairQueueOptions options;
  options.sequences = 2;
  return options;
}

class WaitingRoomTest : public testing::Test {
 protected:
  Sequence& admit(std::uint64_t id, Phase phase = Phase::kQueued) {
    auto sequence = std::make_unique<Sequence>();
    sequence->id = EngineRequestId(id);
    sequence->phase = phase;
    sequence->request.submitted_at = TimePoint(std::chrono::milliseconds(id));
    return room_.admit(std::move(sequence));
  }

  FairQueue queue_{two_at_once()};
  WaitingRoom room_{queue_};
};

TEST_F(WaitingRoomTest, NamesWhoseTurnItIsUntilNoSequenceIsFree) {
  Sequence& first = admit(1);
  admit(2);
  admit(3);
  EXPECT_EQ(room_.next(kNow), &first);
  const SequencePtr a = room_.start(first, kNow);
  const SequencePtr b = room_.start(*room_.next(kNow), kNow);
  EXPECT_EQ(room_.next(kNow), nullptr);
  ASSERT_NE(room_.head(kNow), nullptr);
  EXPECT_EQ(room_.head(kNow)->id, EngineRequestId(3));
  room_.check_integrity();
  queue_.stopped(a->work());
  queue_.stopped(b->work());
}

TEST_F(WaitingRoomTest, PassesOverWhoStandsAsideAndCallsItUpAtItsOldPlace) {
  Sequence& first = admit(1);
  Sequence& second = admit(2);
  first.aside = Aside{};
  room_.stand_aside(first);
  EXPECT_EQ(room_.aside(), 1u);
  EXPECT_EQ(room_.next(kNow), &second);
  room_.call_up([](const Sequence&) { return false; });
  EXPECT_EQ(room_.next(kNow), &second);
  room_.call_up([](const Sequence&) { return true; });
  EXPECT_EQ(room_.next(kNow), &first);
  EXPECT_FALSE(first.aside.has_value());
  room_.check_integrity();
}

TEST_F(WaitingRoomTest, LetsOneThatStandsAsideLeave) {
  Sequence& only = admit(1, Phase::kParked);
  only.aside = Aside{};
  room_.stand_aside(only);
  EXPECT_EQ(room_.parked(), 1u);
  const SequencePtr owner = room_.leave(only);
  EXPECT_EQ(owner->id, EngineRequestId(1));
  EXPECT_TRUE(room_.empty());
  EXPECT_EQ(room_.aside() + room_.parked(), 0u);
  EXPECT_EQ(queue_.waiting(), 0u);
  room_.check_integrity();
}

TEST_F(WaitingRoomTest, TakesAParkedOneBackAtTheTimeOfItsArrival) {
  const SequencePtr early = room_.start(admit(1), kNow);
  admit(2);
  queue_.stopped(early->work());
  admit(1, Phase::kParked);
  EXPECT_EQ(room_.next(kNow)->id, EngineRequestId(1));
  EXPECT_EQ(room_.oldest_new()->id, EngineRequestId(2));
}

}  // namespace
}  // namespace zerohop

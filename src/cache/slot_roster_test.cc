#include "cache/slot_roster.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

TEST(SlotRoster, GivesTheLowestEmptySlot) {
  SlotRoster roster(130);
  for (std::int32_t i = 0; i < 129; ++i) roster.set(SlotId(i), SlotState::kRunning);
  EXPECT_EQ(roster.lowest_empty(), SlotId(129));
  roster.set(SlotId(70), SlotState::kEmpty);
  EXPECT_EQ(roster.lowest_empty(), SlotId(70));
  roster.set(SlotId(70), SlotState::kParked);
  roster.set(SlotId(129), SlotState::kParked);
  EXPECT_FALSE(roster.lowest_empty());
  roster.check_integrity();
}

TEST(SlotRoster, MovesSlotsBetweenItsLists) {
  SlotRoster roster(4);
  for (std::int32_t i = 0; i < 4; ++i) roster.set(SlotId(i), SlotState::kRunning);
  roster.set(SlotId(1), SlotState::kParked);
  roster.set(SlotId(0), SlotState::kParked);
  roster.set(SlotId(1), SlotState::kRunning);
  roster.check_integrity();
  EXPECT_EQ(roster.parked(), (std::vector<SlotId>{SlotId(0)}));
  EXPECT_EQ(roster.running().size(), 3u);
  EXPECT_EQ(roster.state(SlotId(1)), SlotState::kRunning);
}

}  // namespace
}  // namespace zerohop

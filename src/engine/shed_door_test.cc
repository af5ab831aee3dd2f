#include "engine/shed_door.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

constexpr std::chrono::seconds kWaitMax{60};
constexpr TenantId kHeavy{1};
constexpr TenantId kLight{2};

void come(ShedDoor& door, TenantId tenant, int count) {
  for (int i = 0; i < count; ++i) door.came(tenant);
}

TEST(ShedDoor, RefusesNobodyUntilItIsTold) {
  ShedDoor door(kWaitMax);
  come(door, kHeavy, 100);
  EXPECT_EQ(door.refuses(kHeavy), PressureCause::kNone);
  door.set(PressureCause::kQueue, std::chrono::seconds(80));
  EXPECT_EQ(door.refuses(kHeavy), PressureCause::kQueue);
  door.set(PressureCause::kNone, {});
  EXPECT_EQ(door.refuses(kHeavy), PressureCause::kNone);
}

TEST(ShedDoor, SparesWhoeverAsksForLessThanItsShare) {
  ShedDoor door(kWaitMax);
  come(door, kHeavy, 100);
  door.set(PressureCause::kKvCells, std::chrono::seconds(80));
  EXPECT_EQ(door.refuses(kLight), PressureCause::kNone);
  come(door, kLight, 50);
  EXPECT_EQ(door.refuses(kLight), PressureCause::kNone) << "two of three: 54 s";
  come(door, kLight, 45);
  EXPECT_EQ(door.refuses(kLight), PressureCause::kKvCells) << "nearly all of it";
  for (int i = 0; i < 95; ++i) door.went(kLight);
  EXPECT_EQ(door.refuses(kLight), PressureCause::kNone);
  EXPECT_EQ(door.refuses(kHeavy), PressureCause::kKvCells);
}

TEST(ShedDoor, RefusesOneMoreOfManyEquals) {
  ShedDoor door(kWaitMax);
  for (std::uint64_t i = 10; i < 110; ++i) door.came(TenantId(i));
  door.set(PressureCause::kQueue, std::chrono::seconds(80));
  EXPECT_EQ(door.refuses(kLight), PressureCause::kQueue);
}

TEST(ShedDoor, TellsWhatFairTurnsPutInFront) {
  ShedDoor door(kWaitMax);
  EXPECT_EQ(door.part_in_front(kLight), 1);
  come(door, kHeavy, 9);
  come(door, kLight, 1);
  EXPECT_DOUBLE_EQ(door.part_in_front(kLight), 0.3);
  EXPECT_DOUBLE_EQ(door.part_in_front(TenantId(3)), 0.2);
  EXPECT_DOUBLE_EQ(door.part_in_front(kHeavy), 1);
}

TEST(ShedDoor, KnowsNoTenantsWhereAllAreOne) {
  ShedDoor door(kWaitMax);
  come(door, TenantId{}, 100);
  door.set(PressureCause::kQueue, std::chrono::seconds(61));
  EXPECT_EQ(door.refuses(TenantId{}), PressureCause::kQueue);
}

}  // namespace
}  // namespace zerohop

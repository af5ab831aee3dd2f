#include "engine/shed_door.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

constexpr std::chrono::seconds kWaitMax{60};
constexpr TenantId kHeavy{1};
constexpr TenantId kLight{2};

QueueEntry of(TenantId tenant) { return {tenant, PriorityClass::kStandard, 100}; }

void come(QueueBooks& books, TenantId tenant, int count) {
  for (int i = 0; i < count; ++i) EXPECT_EQ(books.enter(of(tenant)), std::nullopt);
}

TEST(ShedDoor, RefusesNobodyUntilItIsTold) {
  QueueBooks books({});
  ShedDoor door(books, kWaitMax);
  come(books, kHeavy, 100);
  EXPECT_EQ(door.refuses(kHeavy), PressureCause::kNone);
  door.set(PressureCause::kQueue, std::chrono::seconds(80));
  EXPECT_EQ(door.refuses(kHeavy), PressureCause::kQueue);
  door.set(PressureCause::kNone, {});
  EXPECT_EQ(door.refuses(kHeavy), PressureCause::kNone);
}

TEST(ShedDoor, SparesWhoeverAsksForLessThanItsShare) {
  QueueBooks books({});
  ShedDoor door(books, kWaitMax);
  come(books, kHeavy, 100);
  door.set(PressureCause::kKvCells, std::chrono::seconds(80));
  EXPECT_EQ(door.refuses(kLight), PressureCause::kNone);
  come(books, kLight, 50);
  EXPECT_EQ(door.refuses(kLight), PressureCause::kNone) << "two of three: 54 s";
  come(books, kLight, 45);
  EXPECT_EQ(door.refuses(kLight), PressureCause::kKvCells) << "nearly all of it";
  for (int i = 0; i < 95; ++i) books.leave(of(kLight));
  EXPECT_EQ(door.refuses(kLight), PressureCause::kNone);
  EXPECT_EQ(door.refuses(kHeavy), PressureCause::kKvCells);
}

TEST(ShedDoor, RefusesOneMoreOfManyEquals) {
  QueueBooks books({});
  ShedDoor door(books, kWaitMax);
  for (std::uint64_t i = 10; i < 110; ++i) come(books, TenantId(i), 1);
  door.set(PressureCause::kQueue, std::chrono::seconds(80));
  EXPECT_EQ(door.refuses(kLight), PressureCause::kQueue);
}

// The rung is held for a moment behind the last one that waited.
TEST(ShedDoor, LetsInWhoeverHasNobodyInFront) {
  QueueBooks books({});
  ShedDoor door(books, kWaitMax);
  come(books, kHeavy, 1);
  door.set(PressureCause::kQueue, std::chrono::seconds(80));
  EXPECT_EQ(door.refuses(kHeavy), PressureCause::kQueue);
  books.leave(of(kHeavy));
  for (const TenantId tenant : {kHeavy, kLight, TenantId{}}) {
    EXPECT_EQ(door.refuses(tenant), PressureCause::kNone);
  }
}

TEST(ShedDoor, KnowsNoTenantsWhereAllAreOne) {
  QueueBooks books({});
  ShedDoor door(books, kWaitMax);
  come(books, TenantId{}, 100);
  door.set(PressureCause::kQueue, std::chrono::seconds(61));
  EXPECT_EQ(door.refuses(TenantId{}), PressureCause::kQueue);
}

}  // namespace
}  // namespace zerohop

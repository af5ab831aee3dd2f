#include "engine/idle_rent.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

constexpr double kPrice = 1e-6;  // of a cell and a row
constexpr double kMove = 8e-6;   // of a cell
constexpr std::uint32_t kIdle = 2000 + IdleRent::kFreeCells;

TEST(IdleRent, CellsGoWhenTheRentHasPaidForTheirMoving) {
  IdleRent rent;
  rent.charge(2, kIdle, kPrice);  // 4 ms, and moving 512 cells takes 4.1 ms
  EXPECT_EQ(rent.due(kIdle, kMove), 0u);
  rent.charge(1, kIdle, kPrice);
  EXPECT_EQ(rent.due(kIdle, kMove), 750u);
}

TEST(IdleRent, WhatWentWasPaidForAndTheRestGoesOn) {
  IdleRent rent;
  rent.charge(4, kIdle, kPrice);
  ASSERT_EQ(rent.due(kIdle, kMove), 1000u);
  rent.moved(600, kMove);
  EXPECT_EQ(rent.due(kIdle - 600, kMove), 0u) << "400 are not worth a call";
  rent.charge(1, kIdle - 600, kPrice);
  EXPECT_EQ(rent.due(kIdle - 600, kMove), 575u);
}

// However long the rent was paid: not more than there is, and the free ones stay.
TEST(IdleRent, NeverAsksForMoreThanThereIs) {
  IdleRent rent;
  rent.charge(1000, kIdle, kPrice);
  EXPECT_EQ(rent.due(kIdle, kMove), 2000u);
  EXPECT_EQ(rent.due(IdleRent::kFreeCells + 10, kMove), 10u) << "all that is left";
  EXPECT_EQ(rent.due(IdleRent::kFreeCells, kMove), 0u);
}

TEST(IdleRent, FewIdleCellsPayNothing) {
  IdleRent rent;
  rent.charge(1000, kIdle, kPrice);
  rent.charge(1000, IdleRent::kFreeCells, kPrice);
  EXPECT_EQ(rent.due(kIdle, kMove), 0u) << "somebody took them up again: paid from the beginning";
}

TEST(IdleRent, AsksAgainOnlyAfterAnotherRentWhereThereWasNoRoom) {
  IdleRent rent;
  rent.charge(4, kIdle, kPrice);
  rent.moved(0, kMove);
  EXPECT_EQ(rent.due(kIdle, kMove), 0u);
  rent.charge(4, kIdle, kPrice);
  EXPECT_EQ(rent.due(kIdle, kMove), 1000u);
}

TEST(IdleRent, ACopyThatTakesNoTimeIsDueAtOnce) {
  IdleRent rent;
  rent.charge(1, kIdle, kPrice);
  EXPECT_EQ(rent.due(kIdle, 0), 2000u);
}

}  // namespace
}  // namespace zerohop

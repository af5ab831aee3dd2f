#include "cache/cell_ledger.h"

#include <gtest/gtest.h>

#include <array>

namespace zerohop {
namespace {

constexpr SlotId kA(0);
constexpr SlotId kB(1);
constexpr SlotId kC(2);

TEST(CellLedger, CountsSharedCellsOnce) {
  CellLedger ledger(3, CellLedger::Copies::kShare);
  ledger.append(kA, 10);
  ledger.share({kA, 6}, kB);
  ledger.append(kB, 4);
  ledger.check_integrity();
  EXPECT_EQ(ledger.cells_held(), 14u);
  EXPECT_EQ(ledger.held(kB), 10);
}

TEST(CellLedger, CountsCopiesForEachSlotWhereNothingIsShared) {
  CellLedger ledger(3, CellLedger::Copies::kDuplicate);
  ledger.append(kA, 10);
  ledger.share({kA, 6}, kB);
  ledger.check_integrity();
  EXPECT_EQ(ledger.cells_held(), 16u);
}

TEST(CellLedger, FreesASharedCellWithItsLastHolder) {
  CellLedger ledger(3, CellLedger::Copies::kShare);
  ledger.append(kA, 10);
  ledger.share({kA, 10}, kB);
  ledger.truncate({kA, 0});
  EXPECT_EQ(ledger.cells_held(), 10u);
  ledger.truncate({kB, 3});
  ledger.check_integrity();
  EXPECT_EQ(ledger.cells_held(), 3u);
}

TEST(CellLedger, CutsOneHolderOfASharedSegmentOnly) {
  CellLedger ledger(3, CellLedger::Copies::kShare);
  ledger.append(kA, 10);
  ledger.share({kA, 10}, kB);
  ledger.truncate({kB, 4});
  ledger.append(kB, 2);
  ledger.check_integrity();
  EXPECT_EQ(ledger.held(kA), 10);
  EXPECT_EQ(ledger.cells_held(), 12u);
}

TEST(CellLedger, ActiveCellsAreThoseOfRunningSlots) {
  CellLedger ledger(3, CellLedger::Copies::kShare);
  ledger.append(kA, 10);
  ledger.share({kA, 6}, kB);
  ledger.set_running(kB, true);
  EXPECT_EQ(ledger.cells_active(), 6u);
  ledger.append(kB, 5);
  ledger.set_running(kA, true);
  EXPECT_EQ(ledger.cells_active(), 15u);
  ledger.set_running(kB, false);
  ledger.check_integrity();
  EXPECT_EQ(ledger.cells_active(), 10u);
}

TEST(CellLedger, IdleCellsOfSeveralHeadsAreTheirUnion) {
  CellLedger ledger(3, CellLedger::Copies::kShare);
  ledger.append(kA, 10);
  ledger.share({kA, 6}, kB);
  ledger.append(kB, 4);
  ledger.append(kC, 5);
  const std::array<SlotHead, 3> heads{SlotHead{kA, 8}, SlotHead{kB, 3}, SlotHead{kC, 2}};
  EXPECT_EQ(ledger.idle_cells(heads), 10u);
  ledger.set_running(kB, true);
  EXPECT_EQ(ledger.idle_cells(heads), 4u);
}

}  // namespace
}  // namespace zerohop

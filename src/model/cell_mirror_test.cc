// The rules by themselves; against the library: llama_cell_mirror_test.cc.
#include "model/cell_mirror.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

constexpr SlotId kFirst{0};
constexpr SlotId kSecond{1};
constexpr SlotId kThird{2};

void append(CellMirror& mirror, SlotId slot, int count) {
  std::vector<BatchRow> rows(static_cast<std::size_t>(count));
  for (BatchRow& row : rows) row.slot = slot;
  ASSERT_TRUE(mirror.append(rows));
  mirror.check_integrity();
}

std::vector<CellMirror::Cell> cells_of(const CellMirror& mirror, SlotId slot) {
  const auto held = mirror.held(slot);
  return {held.begin(), held.end()};
}

using Cells = std::vector<CellMirror::Cell>;

TEST(CellMirror, PlacesRowsBehindEachOtherAndFillsHolesFromTheLowestOn) {
  CellMirror mirror(100, 3);
  append(mirror, kFirst, 3);
  append(mirror, kSecond, 3);
  mirror.cut(kFirst, 1);
  EXPECT_EQ(mirror.top(), 6u);
  append(mirror, kThird, 4);
  EXPECT_EQ(cells_of(mirror, kThird), (Cells{1, 2, 6, 7}));
}

TEST(CellMirror, StartsAgainAtZeroWhenTheHeadIsFarBehindWhatIsInUse) {
  CellMirror mirror(1000, 3);
  append(mirror, kFirst, 20);
  append(mirror, kSecond, 20);
  append(mirror, kThird, 1);
  mirror.cut(kSecond, 0);  // the head goes to 20
  append(mirror, kSecond, 1);
  EXPECT_EQ(cells_of(mirror, kSecond), Cells{20});
  mirror.cut(kFirst, 0);  // and to 0
  append(mirror, kFirst, 1);
  EXPECT_EQ(cells_of(mirror, kFirst), Cells{0});
}

TEST(CellMirror, WrapsAroundTheEndAndRefusesWhenFull) {
  CellMirror mirror(10, 3);
  append(mirror, kFirst, 3);
  append(mirror, kSecond, 6);
  mirror.cut(kFirst, 0);
  append(mirror, kThird, 1);  // cell 0
  mirror.cut(kThird, 0);
  append(mirror, kThird, 4);
  EXPECT_EQ(cells_of(mirror, kThird), (Cells{0, 1, 2, 9}));
  EXPECT_EQ(mirror.free(), 0u);
  EXPECT_FALSE(mirror.append(kFirst));
  mirror.check_integrity();
}

TEST(CellMirror, SharedCellsCountOnceAndStayUntilTheLastHolderGoes) {
  CellMirror mirror(64, 3);
  append(mirror, kFirst, 10);
  mirror.share(kFirst, kSecond, {0, 8});
  EXPECT_EQ(mirror.used(), 10u);
  EXPECT_EQ(mirror.holders(7), 2u);
  mirror.cut(kFirst, 0);
  EXPECT_EQ(mirror.used(), 8u);
  EXPECT_EQ(mirror.top(), 8u);
  mirror.cut(kSecond, 0);
  EXPECT_EQ(mirror.used(), 0u);
  EXPECT_EQ(mirror.top(), 0u);
  mirror.check_integrity();
}

TEST(CellMirror, ARestoredSubRangeKeepsItsCellsAndFreesTheOthers) {
  CellMirror mirror(64, 2);
  append(mirror, kFirst, 4);
  const std::vector<std::int32_t> positions{6, 4, 5, 7, 3};
  ASSERT_TRUE(mirror.restore(kFirst, positions, {4, 7}));
  mirror.check_integrity();
  EXPECT_EQ(cells_of(mirror, kFirst), (Cells{0, 1, 2, 3, 5, 6, 4}));
  EXPECT_EQ(mirror.used(), 7u);
  append(mirror, kSecond, 1);
  EXPECT_EQ(cells_of(mirror, kSecond), Cells{7}) << "the head went back to the first freed cell";
}

TEST(CellMirror, NamesWhoHoldsTheHighestCell) {
  CellMirror mirror(64, 3);
  EXPECT_FALSE(mirror.top_cell().has_value());
  append(mirror, kFirst, 10);
  append(mirror, kSecond, 5);
  append(mirror, kFirst, 1);
  ASSERT_TRUE(mirror.top_cell().has_value());
  EXPECT_EQ(mirror.top_cell()->slot, kFirst);
  EXPECT_EQ(mirror.top_cell()->position, 10);
  mirror.cut(kFirst, 3);
  EXPECT_EQ(mirror.top_cell()->slot, kSecond);
  EXPECT_EQ(mirror.top_cell()->position, 4);
  append(mirror, kFirst, 1);  // into a hole
  EXPECT_EQ(mirror.top_cell()->slot, kSecond);
  mirror.share(kSecond, kThird, {0, 5});
  EXPECT_FALSE(mirror.top_cell().has_value()) << "of several";
}

TEST(CellMirror, AStateWithoutRoomChangesNothing) {
  CellMirror mirror(4, 2);
  append(mirror, kFirst, 2);
  const std::vector<std::int32_t> positions{0, 1, 2};
  EXPECT_FALSE(mirror.restore(kSecond, positions, {0, 1}));
  EXPECT_EQ(mirror.length(kSecond), 0);
  EXPECT_EQ(mirror.used(), 2u);
  mirror.check_integrity();
}

}  // namespace
}  // namespace zerohop

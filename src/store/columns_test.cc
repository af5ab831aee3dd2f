#include "store/columns.h"

#include <gtest/gtest.h>

#include <limits>

#include "store/store_test_folder.h"

namespace zerohop {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(Columns, KeepTimesInWholeMillisecondsRoundedDown) {
  const WallTime time{milliseconds(1'700'000'000'123)};
  EXPECT_EQ(ms_column(time), 1'700'000'000'123);
  EXPECT_EQ(ms_column(time + microseconds(999)), 1'700'000'000'123);
  EXPECT_EQ(ms_column(WallTime{} - microseconds(1)), -1);
  EXPECT_EQ(time_from_ms(ms_column(time)), time);
  EXPECT_EQ(ms_column(std::optional<WallTime>()), std::nullopt);
}

TEST(Columns, HoldTheNearestTimeThereIs) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_GT(time_from_ms(kMost), WallTime::max() - milliseconds(1));
  EXPECT_LT(time_from_ms(-kMost - 1), WallTime::min() + milliseconds(1));
}

TEST(Columns, ReadWhatARowHolds) {
  const StoreTestFolder folder;
  DatabaseOptions options;
  options.path = folder.file("columns.db");
  auto database = Database::open(options, {});
  ASSERT_TRUE(database.ok());
  auto row = (*database)->prepare("SELECT 7, -7, NULL, 1500");
  ASSERT_TRUE(row.ok());
  ASSERT_TRUE(row->step().value());
  EXPECT_EQ(number_at(*row, 0), 7u);
  EXPECT_EQ(number_at(*row, 1), 0u);
  EXPECT_EQ(time_or_null_at(*row, 2), std::nullopt);
  EXPECT_EQ(time_or_null_at(*row, 3), WallTime{milliseconds(1'500)});
  EXPECT_EQ(time_at(*row, 3), WallTime{milliseconds(1'500)});
}

}  // namespace
}  // namespace zerohop

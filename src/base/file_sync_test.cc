#include "base/file_sync.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/random.h"

namespace zerohop {
namespace {

namespace fs = std::filesystem;

TEST(SyncToDisk, TakesFilesAndFolders) {
  const fs::path folder = fs::temp_directory_path() / ("zerohop-" + os_random_text(12));
  ASSERT_TRUE(fs::create_directories(folder));
  std::ofstream(folder / "file") << "text";
  EXPECT_EQ(sync_to_disk(folder / "file"), std::error_code());
  EXPECT_EQ(sync_to_disk(folder), std::error_code());
  EXPECT_EQ(sync_to_disk(folder / "missing"), std::errc::no_such_file_or_directory);
  fs::remove_all(folder);
}

TEST(SyncToDisk, SaysWhatCannotBeSynced) {
  EXPECT_EQ(sync_to_disk("/dev/null"), std::errc::invalid_argument);
}

}  // namespace
}  // namespace zerohop

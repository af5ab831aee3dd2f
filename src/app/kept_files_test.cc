#include "app/kept_files.h"

#include <gtest/gtest.h>

#include <fstream>

#include "app/test_folder.h"

namespace zerohop {
namespace {

TEST(StatePath, IsWhatTheConfigurationSays) {
  EXPECT_EQ(state_path("/somewhere/else", "usage").value(), "/somewhere/else");
  EXPECT_EQ(state_path("relative", "usage").value(), "relative");
}

TEST(HoldFolder, IsForOneHolderAtATime) {
  const TestFolder folder;
  const KeptFolder kept{"limits.usage_folder", folder.path() / "a" / "b", "usage.lock"};
  {
    const Result<FileLock> first = hold_folder(kept);
    ASSERT_TRUE(first.ok()) << first.error().message;
    const Result<FileLock> second = hold_folder(kept);
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code, ErrorCode::kConfiguration);
    EXPECT_NE(second.error().message.find("limits.usage_folder: '"), std::string::npos);
    EXPECT_NE(second.error().message.find("in use by another process"), std::string::npos);
  }
  EXPECT_TRUE(hold_folder(kept).ok());
}

TEST(HoldFolder, SaysWhyItCannotBe) {
  const TestFolder folder;
  std::ofstream(folder.path() / "file") << "x";
  for (const std::filesystem::path& bad :
       {std::filesystem::path("/proc/no/such"), folder.path() / "file" / "in"}) {
    const Result<FileLock> held = hold_folder({"batches.folder", bad, "batches.lock"});
    ASSERT_FALSE(held.ok()) << bad;
    EXPECT_EQ(held.error().code, ErrorCode::kConfiguration);
    EXPECT_NE(held.error().message.find("cannot be"), std::string::npos) << held.error().message;
  }
}

}  // namespace
}  // namespace zerohop

#include "base/file_lock.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/random.h"

namespace zerohop {
namespace {

class FileLockTest : public testing::Test {
 protected:
  ~FileLockTest() override {
    std::error_code ignored;
    std::filesystem::remove(file_, ignored);
  }
  FileLock opened() const {
    FileLock lock;
    EXPECT_FALSE(lock.open(file_, 0600));
    return lock;
  }

  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() / ("zerohop-lock-" + os_random_text(12));
};

TEST_F(FileLockTest, IsHeldByOneAtATime) {
  FileLock first = opened();
  FileLock second = opened();
  EXPECT_FALSE(first.try_lock());
  EXPECT_EQ(second.try_lock(), std::errc::operation_would_block);
  first = FileLock();
  EXPECT_FALSE(second.lock());
}

TEST_F(FileLockTest, GoesWithTheObjectThatItIsMovedTo) {
  FileLock first = opened();
  EXPECT_FALSE(first.try_lock());
  {
    const FileLock moved(std::move(first));
    EXPECT_EQ(opened().try_lock(), std::errc::operation_would_block);
  }
  EXPECT_FALSE(opened().try_lock());
}

TEST_F(FileLockTest, TellsWhyAFileCannotBeOpened) {
  FileLock lock;
  EXPECT_EQ(lock.open(file_ / "below", 0600), std::errc::no_such_file_or_directory);
}

}  // namespace
}  // namespace zerohop

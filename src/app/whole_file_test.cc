#include "app/whole_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "app/test_folder.h"

namespace zerohop {
namespace {

namespace fs = std::filesystem;

class WriteWhole : public testing::TestWithParam<Durable> {
 protected:
  fs::path file() const { return folder_.path() / "note.json"; }

  fs::path beside() const {
    return folder_.path() / ("note.json." + std::to_string(getpid()) + ".part");
  }

  std::string content() const {
    std::ifstream stream(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  const TestFolder folder_;
};

TEST_P(WriteWhole, PutsThePartsOneBehindTheOther) {
  using namespace std::string_view_literals;
  EXPECT_EQ(write_whole(file(), {"head\0"sv, "", "body"}, GetParam()), std::error_code());
  EXPECT_EQ(content(), "head\0body"sv);
  EXPECT_EQ(names(), std::vector<std::string>{"note.json"});
}

TEST_P(WriteWhole, ReplacesWhatIsThere) {
  ASSERT_EQ(write_whole(file(), {"a long text"}, GetParam()), std::error_code());
  EXPECT_EQ(write_whole(file(), {"short"}, GetParam()), std::error_code());
  EXPECT_EQ(content(), "short");
  EXPECT_EQ(write_whole(file(), {}, GetParam()), std::error_code());
  EXPECT_EQ(content(), "");
  EXPECT_EQ(names(), std::vector<std::string>{"note.json"});
}

TEST_P(WriteWhole, LeavesTheOldFileAndNoPartOnAFullDisk) {
  ASSERT_EQ(write_whole(file(), {"old"}, GetParam()), std::error_code());
  fs::create_symlink("/dev/full", beside());  // takes no byte
  EXPECT_EQ(write_whole(file(), {"new"}, GetParam()), std::errc::no_space_on_device);
  EXPECT_EQ(content(), "old");
  EXPECT_EQ(names(), std::vector<std::string>{"note.json"});
}

TEST_P(WriteWhole, LeavesNoPartWhereTheNameIsTaken) {
  fs::create_directories(file() / "inside");
  EXPECT_EQ(write_whole(file(), {"text"}, GetParam()), std::errc::is_a_directory);
  EXPECT_EQ(names(), std::vector<std::string>{"note.json"});
  EXPECT_TRUE(fs::is_directory(file() / "inside"));
}

TEST_P(WriteWhole, SaysThatTheFolderIsMissing) {
  EXPECT_EQ(write_whole(folder_.path() / "none" / "file", {"text"}, GetParam()),
            std::errc::no_such_file_or_directory);
  EXPECT_TRUE(names().empty());
}

TEST(ReadWhole, GivesAllOfAFileUpToItsLimit) {
  const TestFolder folder;
  const fs::path file = folder.path() / "file";
  ASSERT_EQ(write_whole(file, {std::string_view("a\0\n\xff", 4)}, Durable::kNo), std::error_code());
  EXPECT_EQ(read_whole(file, 4), std::string("a\0\n\xff", 4));
  EXPECT_EQ(read_whole(file, 3), std::nullopt);
  ASSERT_EQ(write_whole(file, {}, Durable::kNo), std::error_code());
  EXPECT_EQ(read_whole(file, 3), "");
}

TEST(ReadWhole, GivesNothingOfWhatIsNoFile) {
  const TestFolder folder;
  EXPECT_EQ(read_whole(folder.path(), 1 << 20), std::nullopt);
  EXPECT_EQ(read_whole(folder.path() / "missing", 1 << 20), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(All, WriteWhole, testing::Values(Durable::kNo, Durable::kYes),
                         [](const testing::TestParamInfo<Durable>& tested) {
                           return tested.param == Durable::kYes ? "Durable" : "Plain";
                         });

}  // namespace
}  // namespace zerohop

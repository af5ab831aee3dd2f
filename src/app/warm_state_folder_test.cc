#include "app/warm_state_folder.h"

#include <gtest/gtest.h>

#include <fstream>

#include "app/test_folder.h"

namespace zerohop {
namespace {

using Bytes = std::vector<std::byte>;

const std::vector<Token> kTokens{1, 2, 3};

Bytes some_bytes() {
  Bytes bytes;
  for (int i = 0; i < 1'000; ++i) bytes.push_back(static_cast<std::byte>(i));
  return bytes;
}

TEST(WarmStateFolder, GivesBackWhatWasSaved) {
  const TestFolder folder;
  const WarmStateFolder states(folder.path() / "warm", "model");
  EXPECT_TRUE(states.load(kTokens)->empty());
  ASSERT_TRUE(states.save(kTokens, some_bytes()).ok());
  EXPECT_EQ(*states.load(kTokens), some_bytes());
  EXPECT_TRUE(states.load(std::vector<Token>{1, 2})->empty());
  // Nothing half written is left beside it.
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator(folder.path() / "warm")) {
    ++files;
  }
  EXPECT_EQ(files, 1u);
}

TEST(WarmStateFolder, KeepsTheStatesOfDifferentModelsApart) {
  const TestFolder folder;
  ASSERT_TRUE(WarmStateFolder(folder.path(), "a").save(kTokens, some_bytes()).ok());
  EXPECT_TRUE(WarmStateFolder(folder.path(), "b").load(kTokens)->empty());
}

TEST(WarmStateFolder, RefusesAFileThatIsNoState) {
  const TestFolder folder;
  const WarmStateFolder states(folder.path(), "model");
  ASSERT_TRUE(states.save(kTokens, some_bytes()).ok());
  const std::filesystem::path file = states.file_of(kTokens);
  std::fstream(file, std::ios::binary | std::ios::in | std::ios::out).seekp(6).put('1');
  EXPECT_FALSE(states.load(kTokens).ok());
  ASSERT_TRUE(states.save(kTokens, some_bytes()).ok());
  for (const std::uintmax_t size : {8, 5, 0}) {
    std::filesystem::resize_file(file, size);
    EXPECT_FALSE(states.load(kTokens).ok()) << size;
  }
}

TEST(WarmStateFolder, SaysWhereItCannotWrite) {
  const TestFolder folder;
  const std::filesystem::path file = folder.path() / "file";
  std::ofstream(file) << "x";
  EXPECT_FALSE(WarmStateFolder(file / "warm", "model").save(kTokens, some_bytes()).ok());
}

}  // namespace
}  // namespace zerohop

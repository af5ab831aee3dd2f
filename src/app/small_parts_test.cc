// Paths, suggestions, exit codes, progress, version, tokenize output: one page each.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "app/exit_code.h"
#include "app/file_hash.h"
#include "app/paths.h"
#include "app/progress.h"
#include "app/suggest.h"
#include "app/test_folder.h"
#include "app/tokenize_text.h"
#include "app/version.h"

namespace zerohop {
namespace {

TEST(UserFolders, FollowTheXdgVariables) {
  const auto folders = user_folders(
      {{"HOME", "/home/u"}, {"XDG_DATA_HOME", "/data"}, {"XDG_CACHE_HOME", "relative/ignored"}});
  ASSERT_TRUE(folders.ok());
  EXPECT_EQ(folders->models(), "/data/zerohop/models");
  EXPECT_EQ(folders->cache, "/home/u/.cache/zerohop");
  EXPECT_EQ(folders->state, "/home/u/.local/state/zerohop");
  EXPECT_EQ(folders->config_file(), "/home/u/.config/zerohop/config.yaml");
}

TEST(UserFolders, SayWhichVariableIsMissing) {
  const auto folders = user_folders({{"XDG_CONFIG_HOME", "/c"}, {"HOME", ""}});
  ASSERT_FALSE(folders.ok());
  EXPECT_EQ(folders.error().message, "neither XDG_DATA_HOME nor HOME names an absolute folder");
  EXPECT_EQ(exit_code(folders.error()), kExitUsage);
}

TEST(EditDistance, CountsInsertionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("port", "prot"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(ClosestMatch, FindsTypingErrorsAndNothingElse) {
  constexpr std::array<std::string_view, 3> kWords{"serve", "pull", "tokenize"};
  EXPECT_EQ(closest_match("srve", kWords), "serve");
  EXPECT_EQ(closest_match("tokenise", kWords), "tokenize");
  EXPECT_EQ(closest_match("xyz", kWords), std::nullopt);
  EXPECT_EQ(closest_match("", kWords), std::nullopt);
  EXPECT_EQ(closest_match(std::string(1'000'000, 's'), kWords), std::nullopt);
}

TEST(ExitCode, TellsTheCauseApart) {
  const auto code_of = [](ErrorCode code) { return exit_code(Error{code, "", "", {}}); };
  EXPECT_EQ(code_of(ErrorCode::kConfiguration), 2);
  EXPECT_EQ(code_of(ErrorCode::kInvalidRequest), 2);
  EXPECT_EQ(code_of(ErrorCode::kModelUnavailable), 3);
  EXPECT_EQ(code_of(ErrorCode::kModelFailure), 3);
  EXPECT_EQ(code_of(ErrorCode::kAddressInUse), 4);
  EXPECT_EQ(code_of(ErrorCode::kInternal), 1);
}

TEST(ReportFailure, PrintsOneLineOnStandardError) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(report_failure(Error{ErrorCode::kModelUnavailable, "two\nlines", "", {}}), 3);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "zerohop: two lines\n");
}

TEST(ProgressBar, IsExact) {
  EXPECT_EQ(progress_bar(0, 100'000'000), "[>" + std::string(29, ' ') + "]   0 %  0 of 100 MB");
  EXPECT_EQ(progress_bar(50'000'000, 100'000'000),
            "[" + std::string(15, '=') + ">" + std::string(14, ' ') + "]  50 %  50 of 100 MB");
  EXPECT_EQ(progress_bar(200'000'000, 100'000'000),
            "[" + std::string(30, '=') + "] 100 %  100 of 100 MB");
  EXPECT_EQ(progress_bar(7'500'000, 0), "7 MB");
}

TEST(ProgressPrinter, RedrawsOneLineOnATerminal) {
  std::ostringstream out;
  ProgressPrinter printer(out, ProgressStyle::kBar);
  printer.update(0, 10'000'000);
  printer.update(1, 10'000'000);  // looks the same: not drawn again
  printer.update(10'000'000, 10'000'000);
  printer.say("done");
  EXPECT_EQ(out.str(), "\r" + progress_bar(0, 10'000'000) + "\r" +
                           progress_bar(10'000'000, 10'000'000) + "\ndone\n");
}

TEST(ProgressPrinter, WritesALineForEachTenthElsewhere) {
  std::ostringstream out;
  ProgressPrinter printer(out, ProgressStyle::kLines);
  for (std::uint64_t done = 0; done <= 35; ++done) printer.update(done, 100);
  printer.update(250, 100);
  printer.say("done");
  EXPECT_EQ(out.str(), "  10 %\n  20 %\n  30 %\n  100 %\ndone\n");
}

TEST(LoadProgress, DrawsABarAndEndsItOnce) {
  std::ostringstream out;
  const auto loading = load_progress(out, ProgressStyle::kBar, 10'000'000);
  for (const double share : {0.5, 1.0, 1.0}) loading(share);
  EXPECT_EQ(out.str(), "loading the model\n\r" + progress_bar(5'000'000, 10'000'000) + "\r" +
                           progress_bar(10'000'000, 10'000'000) + "\nthe model is loaded\n");
}

TEST(LoadProgress, TellsALogOfLargeModelsOnly) {
  std::ostringstream out;
  EXPECT_FALSE(load_progress(out, ProgressStyle::kLines, kLoadLinesFromBytes - 1));
  EXPECT_EQ(out.str(), "");
  const auto loading = load_progress(out, ProgressStyle::kLines, kLoadLinesFromBytes);
  for (const double share : {0.05, 0.55, 1.0}) loading(share);
  EXPECT_EQ(out.str(), "loading the model\n  50 %\n  100 %\nthe model is loaded\n");
}

TEST(Version, EqualsThatOfTheBuild) {
  std::ifstream file("CMakeLists.txt");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("project(zerohop VERSION " + std::string(kVersion) + " "), text.npos);
}

TEST(FileSha256, MatchesTheStandardsExample) {
  const TestFolder folder;
  std::ofstream(folder.path() / "abc") << "abc";  // FIPS 180-4, example of SHA-256
  EXPECT_EQ(*file_sha256(folder.path() / "abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_FALSE(file_sha256(folder.path() / "missing").ok());
}

TEST(TokenizeOutput, PrintsIdsWithTheirBytes) {
  TokenTable table;
  table.add("Hi", false, false);
  table.add("\n\"", false, false);
  table.add("\xc3", false, false);  // half a character
  table.add("é", false, false);
  const std::array<Token, 4> tokens{0, 1, 2, 3};
  EXPECT_EQ(tokenize_output(tokens, table, {}),
            "0\t\"Hi\"\n1\t\"\\n\\\"\"\n2\t\"\\xc3\"\n3\t\"é\"\n");
  EXPECT_EQ(tokenize_output(tokens, table, {.count = true}), "4\n");
  EXPECT_EQ(tokenize_output(tokens, table, {.json = true}), "{\"tokens\":[0,1,2,3],\"count\":4}\n");
  EXPECT_EQ(tokenize_output(tokens, table, {.json = true, .count = true}), "{\"count\":4}\n");
  EXPECT_EQ(tokenize_output({}, table, {}), "");
}

}  // namespace
}  // namespace zerohop

#include "app/model_prepare_store.h"

#include <gtest/gtest.h>

#include <fstream>

#include "app/test_folder.h"

namespace zerohop {
namespace {

namespace fs = std::filesystem;

PrepareDecision decision(WeightType type = WeightType::kQ8_0, const std::string& key = "key") {
  PrepareDecision made;
  made.key = key;
  made.subject = "subject";
  made.type = type;
  made.source_type = "Q4_1";
  made.reason = "it is \"faster\"";
  PrepareCandidate candidate;
  candidate.type = WeightType::kQ8_0;
  candidate.figures.divergence = {256, 0.006, 0.5, 0.97, 5.87, 5.873};
  candidate.figures.original = {293, 211, 92};
  candidate.figures.converted = {554, 285, 78};
  made.candidates.push_back(candidate);
  candidate.type = WeightType::kQ4_0;
  candidate.fault = "does not load";
  made.candidates.push_back(candidate);
  return made;
}

void write(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

TEST(PrepareDecision, ComesBackFromItsText) {
  PrepareDecision stored = decision();
  stored.file_bytes = 144'000'000;
  stored.file_checksum = 0xfedcba9876543210u;
  stored.attempts = 2;
  stored.candidates[0].figures.disturbance = 0.25;
  const auto again = parse_decision(decision_text(stored));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->key, stored.key);
  EXPECT_EQ(again->subject, stored.subject);
  EXPECT_EQ(again->type, stored.type);
  EXPECT_EQ(again->source_type, stored.source_type);
  EXPECT_EQ(again->reason, stored.reason);
  EXPECT_EQ(again->file_bytes, stored.file_bytes);
  EXPECT_EQ(again->file_checksum, stored.file_checksum);
  ASSERT_EQ(again->candidates.size(), 2u);
  const ModelComparison& figures = again->candidates[0].figures;
  EXPECT_EQ(figures.divergence.tokens, 256u);
  EXPECT_EQ(figures.divergence.kl_mean, 0.006);
  EXPECT_EQ(figures.divergence.same_first, 0.97);
  EXPECT_EQ(figures.divergence.perplexity, 5.873);
  EXPECT_EQ(figures.disturbance, 0.25);
  EXPECT_EQ(again->attempts, 2u);
  EXPECT_FALSE(is_settled(*again));
  EXPECT_EQ(figures.original.batch, 211);
  EXPECT_EQ(figures.converted.single, 78);
  EXPECT_EQ(again->candidates[1].fault, "does not load");
}

TEST(PrepareDecision, IsNotReadFromDamagedText) {
  const std::string whole = decision_text(decision());
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_FALSE(parse_decision(whole.substr(0, bytes)).has_value()) << bytes;
  }
  for (const char* bad : {"[]", "7", "{}", R"({"format":"zerohop-prepare-0"})"}) {
    EXPECT_FALSE(parse_decision(bad).has_value()) << bad;
  }
  std::string other_type = whole;
  other_type.replace(other_type.find("\"Q8_0\""), 6, "\"Q9_0\"");
  EXPECT_FALSE(parse_decision(other_type).has_value());
}

class PrepareFolderTest : public testing::Test {
 protected:
  PrepareFolder folder() const { return {temporary_.path(), temporary_.path() / "model.gguf"}; }

  PrepareWait wait() {
    PrepareWait made{clock_};
    made.limit = std::chrono::seconds(10);
    made.pause = [this] {
      ++pauses_;
      clock_.advance(std::chrono::seconds(1));
    };
    made.say = [this](const std::string& line) { said_.push_back(line); };
    return made;
  }

  // As a start does it.
  Result<PrepareDecision> keep(const PrepareDecision& made, const std::string& content) {
    const auto lock = folder().lock(wait());
    EXPECT_TRUE(lock.ok()) << lock.error().message;
    if (made.type != WeightType::kOriginal) write(folder().part_of(made.type), content);
    return folder().keep(made);
  }

  TestFolder temporary_;
  VirtualClock clock_;
  int pauses_ = 0;
  std::vector<std::string> said_;
};

TEST_F(PrepareFolderTest, FindsWhatWasKeptUnderTheSameKeyOnly) {
  EXPECT_FALSE(folder().find("key").has_value());
  ASSERT_TRUE(keep(decision(), "weights").ok());
  const auto found = folder().find("key");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->file_bytes, 7u);
  EXPECT_FALSE(folder().find("another key").has_value());
  EXPECT_TRUE(fs::exists(folder().file_of(WeightType::kQ8_0)));
  EXPECT_FALSE(fs::exists(folder().part_of(WeightType::kQ8_0)));
}

TEST_F(PrepareFolderTest, KeepsThatTheOriginalIsBest) {
  ASSERT_TRUE(keep(decision(WeightType::kOriginal), "").ok());
  const auto found = folder().find("key");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->type, WeightType::kOriginal);
}

TEST_F(PrepareFolderTest, IsNamedByTheSource) {
  const PrepareFolder one(temporary_.path(), "/models/a.gguf");
  EXPECT_EQ(one.path(), PrepareFolder(temporary_.path(), "/models/../models/a.gguf").path());
  EXPECT_NE(one.path(), PrepareFolder(temporary_.path(), "/other/a.gguf").path());
  EXPECT_TRUE(one.path().filename().string().starts_with("a-"));
  const PrepareFolder odd(temporary_.path(), "/m/" + std::string(300, 'x') + " \n\xff.gguf");
  EXPECT_LT(odd.path().filename().string().size(), 100u);
}

TEST_F(PrepareFolderTest, NoticesADamagedFile) {
  ASSERT_TRUE(keep(decision(), "weights").ok());
  const fs::path file = folder().file_of(WeightType::kQ8_0);
  for (const char* content : {"weighTs", "weight", "weights!", ""}) {
    write(file, content);
    EXPECT_FALSE(folder().find("key").has_value()) << content;
  }
  write(file, "weights");
  EXPECT_TRUE(folder().find("key").has_value());
  fs::remove(file);
  EXPECT_FALSE(folder().find("key").has_value());
}

TEST_F(PrepareFolderTest, NoticesADamagedNote) {
  ASSERT_TRUE(keep(decision(), "weights").ok());
  for (const auto& entry : fs::directory_iterator(folder().path())) {
    if (entry.path().extension() == ".json") write(entry.path(), "{\"format\":");
  }
  EXPECT_FALSE(folder().find("key").has_value());
}

TEST_F(PrepareFolderTest, SweepsWhatBelongsToAnotherSubject) {
  PrepareDecision old = decision(WeightType::kQ4_0, "old");
  old.subject = "the file before it was replaced";
  ASSERT_TRUE(keep(old, "old weights").ok());
  ASSERT_TRUE(keep(decision(), "weights").ok());
  EXPECT_FALSE(folder().find("old").has_value());
  EXPECT_FALSE(fs::exists(folder().file_of(WeightType::kQ4_0)));
  EXPECT_TRUE(folder().find("key").has_value());
}

TEST_F(PrepareFolderTest, KeepsDecisionsOfOtherKeysOnTheSameSubject) {
  ASSERT_TRUE(keep(decision(WeightType::kQ8_0, "two threads"), "weights").ok());
  ASSERT_TRUE(keep(decision(WeightType::kQ4_0, "one thread"), "few weights").ok());
  EXPECT_TRUE(folder().find("two threads").has_value());
  EXPECT_TRUE(folder().find("one thread").has_value());
}

TEST_F(PrepareFolderTest, ClearsWhatAKilledProcessLeft) {
  ASSERT_TRUE(folder().lock(wait()).ok());
  write(folder().part_of(WeightType::kQ8_0), "half of the wei");
  const fs::path note = folder().path() / "0123456789abcdef.json.4711.part";
  write(note, "{\"format\":");
  ASSERT_TRUE(folder().lock(wait()).ok());
  EXPECT_FALSE(fs::exists(note));
  EXPECT_FALSE(fs::exists(folder().part_of(WeightType::kQ8_0)));
}

TEST_F(PrepareFolderTest, WaitsForTheLockUntilItIsFree) {
  std::optional<Result<FileLock>> first = folder().lock(wait());
  ASSERT_TRUE(first->ok());
  PrepareWait patient = wait();
  patient.pause = [this, &first] {
    if (++pauses_ == 3) first.reset();
  };
  EXPECT_TRUE(folder().lock(patient).ok());
  EXPECT_EQ(pauses_, 3);
  EXPECT_EQ(said_.size(), 1u);
}

TEST_F(PrepareFolderTest, GivesUpWhenTheLockIsHeldForTooLong) {
  const auto first = folder().lock(wait());
  ASSERT_TRUE(first.ok());
  const auto second = folder().lock(wait());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(pauses_, 10);
  EXPECT_NE(second.error().message.find("too long"), std::string::npos);
}

TEST_F(PrepareFolderTest, SaysWhenItCannotBeMade) {
  write(temporary_.path() / "file", "in the way");
  const PrepareFolder impossible(temporary_.path() / "file", "/models/a.gguf");
  EXPECT_FALSE(impossible.lock(wait()).ok());
  EXPECT_FALSE(impossible.find("key").has_value());
}

TEST_F(PrepareFolderTest, KeepsNothingWithoutItsPart) {
  const auto lock = folder().lock(wait());
  ASSERT_TRUE(lock.ok());
  EXPECT_FALSE(folder().keep(decision()).ok());
  EXPECT_FALSE(folder().find("key").has_value());
}

}  // namespace
}  // namespace zerohop

// Preparing tiny models with random weights. What a comparison finds is told by the tests, because
// the speed of so small a model is nothing but noise; everything else is real.
#include "app/model_prepare.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <thread>

#include "app/model_prepare_store.h"
#include "app/test_folder.h"
#include "model/llama_test_tiny.h"

namespace zerohop {
namespace {

namespace fs = std::filesystem;

ModelComparison twice_as_fast(double kl) {
  ModelComparison figures;
  figures.divergence.tokens = 256;
  figures.divergence.kl_mean = kl;
  figures.original = {100, 100, 100};
  figures.converted = {200, 200, 100};
  return figures;
}

class PrepareModel : public testing::Test {
 protected:
  void SetUp() override {
    write_tiny_model(source(), TinyKind::kDense);
    request_.model.path = source().string();
    request_.model.name = "tiny";
    request_.rule.policy = PreparePolicy::kFast;  // which converts F32 files
    request_.room = {std::uint64_t{1} << 30, std::uint64_t{1} << 40};
    request_.cache_folder = folder_.path() / "cache";
    tools_.say = [this](const std::string& line) { said_.push_back(line); };
    tools_.compare = [this](const Model&, const Model&, const CompareOptions&) {
      ++compared_;
      return Result<ModelComparison>(found_);
    };
  }

  fs::path source() const { return folder_.path() / "tiny.gguf"; }
  PrepareFolder prepared() const { return {request_.cache_folder, source()}; }
  PreparedModel prepare() { return prepare_model(request_, tools_); }

  // What lies in the folder, apart from the lock.
  std::vector<std::string> kept() const {
    std::vector<std::string> names;
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(prepared().path(), missing)) {
      const std::string name = entry.path().filename().string();
      if (name != "lock") names.push_back(entry.path().extension() == ".json" ? ".json" : name);
    }
    std::ranges::sort(names);
    return names;
  }

  void expect_original(const PreparedModel& outcome) {
    EXPECT_EQ(outcome.file, source());
    EXPECT_FALSE(outcome.preparation.prepared());
    EXPECT_NE(outcome.preparation.reason, "");
  }

  const TestFolder folder_;
  const SteadyClock clock_;
  PrepareRequest request_;
  PrepareTools tools_{clock_, [] { std::this_thread::yield(); }};
  ModelComparison found_ = twice_as_fast(0.01);
  std::atomic<int> compared_{0};
  std::vector<std::string> said_;
};

using Names = std::vector<std::string>;

TEST_F(PrepareModel, ConvertsAndKeepsTheWinner) {
  const PreparedModel first = prepare();
  EXPECT_EQ(first.preparation.type, WeightType::kQ8_0);
  EXPECT_EQ(first.preparation.source_type, "F32");
  EXPECT_TRUE(first.preparation.measured_now);
  EXPECT_EQ(first.preparation.candidates.size(), 2u);
  EXPECT_EQ(compared_, 2);
  EXPECT_EQ(kept(), (Names{".json", "q8_0.gguf"}));
  const auto file = read_weight_file(first.file.string());
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->main_type, "Q8_0");
  EXPECT_FALSE(said_.empty());
}

TEST_F(PrepareModel, MeasuresOnlyOnce) {
  const PreparedModel first = prepare();
  said_.clear();
  const PreparedModel second = prepare();
  EXPECT_EQ(second.file, first.file);
  EXPECT_FALSE(second.preparation.measured_now);
  EXPECT_EQ(second.preparation.reason, first.preparation.reason);
  EXPECT_EQ(second.preparation.candidates.size(), 2u);
  EXPECT_EQ(compared_, 2);
  EXPECT_TRUE(said_.empty());
}

TEST_F(PrepareModel, RemembersThatTheOriginalIsBest) {
  found_ = twice_as_fast(1.5);
  expect_original(prepare());
  EXPECT_EQ(kept(), Names{".json"});
  const PreparedModel second = prepare();
  expect_original(second);
  EXPECT_FALSE(second.preparation.measured_now);
  EXPECT_EQ(compared_, 2);
}

TEST_F(PrepareModel, SafeRefusesWhatDivergesTooFar) {
  // Q4_0 is no exact type, so that `safe` tries it.
  Conversion conversion{(folder_.path() / "f32.gguf").string(), source().string(),
                        WeightType::kQ4_0, 1, nullptr};
  fs::rename(source(), conversion.source);
  ASSERT_TRUE(convert_weights(conversion).ok());
  request_.rule = {PreparePolicy::kSafe, 0.02};
  found_ = twice_as_fast(0.021);
  expect_original(prepare());
  EXPECT_EQ(compared_, 1);
  request_.rule.kl_max = 0.03;
  EXPECT_EQ(prepare().preparation.type, WeightType::kQ8_0);
  EXPECT_EQ(compared_, 2) << "another limit is another decision";
}

TEST_F(PrepareModel, OffDoesNothing) {
  request_.rule.policy = PreparePolicy::kOff;
  expect_original(prepare());
  EXPECT_EQ(kept(), Names{});
  EXPECT_EQ(compared_, 0);
}

TEST_F(PrepareModel, LeavesModelsWithARunningStateAlone) {
  write_tiny_model(source(), TinyKind::kRunningState);
  const PreparedModel first = prepare();
  expect_original(first);
  EXPECT_EQ(first.preparation.reason, "it keeps a running state");
  EXPECT_FALSE(prepare().preparation.measured_now);
  EXPECT_EQ(compared_, 0);
}

TEST_F(PrepareModel, KeepsWhatWasPreparedWhenMemoryGetsScarce) {
  const PreparedModel first = prepare();
  request_.room.free_memory = 0;
  EXPECT_EQ(prepare().file, first.file);
  fs::remove_all(request_.cache_folder);
  expect_original(prepare());
  EXPECT_EQ(kept(), Names{});
}

TEST_F(PrepareModel, MakesADamagedFileAgain) {
  const PreparedModel first = prepare();
  std::fstream(first.file, std::ios::binary | std::ios::in | std::ios::out).seekp(5000).put('!');
  const PreparedModel second = prepare();
  EXPECT_TRUE(second.preparation.measured_now);
  EXPECT_EQ(second.preparation.type, WeightType::kQ8_0);
  EXPECT_EQ(compared_, 4);
  EXPECT_FALSE(prepare().preparation.measured_now);
}

TEST_F(PrepareModel, MeasuresAnewWhenTheSourceIsAnother) {
  prepare();
  write_tiny_model(source(), TinyKind::kWindow);
  const PreparedModel second = prepare();
  EXPECT_TRUE(second.preparation.measured_now);
  EXPECT_EQ(read_weight_file(second.file.string())->architecture, "gemma3");
  EXPECT_EQ(kept(), (Names{".json", "q8_0.gguf"})) << "the old decision is still there";
}

TEST_F(PrepareModel, MeasuresAnewForOtherThreads) {
  prepare();
  request_.threads = 2;
  EXPECT_TRUE(prepare().preparation.measured_now);
  EXPECT_FALSE(prepare().preparation.measured_now);
  request_.threads = 1;
  EXPECT_FALSE(prepare().preparation.measured_now);
}

TEST_F(PrepareModel, MeasuresAgainWhatADisturbedMachineDecided) {
  found_.disturbance = 0.5;
  const PreparedModel first = prepare();
  EXPECT_TRUE(first.preparation.prepared()) << "it is used all the same";
  found_ = twice_as_fast(1.5);
  const PreparedModel second = prepare();
  EXPECT_TRUE(second.preparation.measured_now);
  expect_original(second);
  EXPECT_EQ(kept(), Names{".json"});
  EXPECT_FALSE(prepare().preparation.measured_now) << "nothing disturbed the second";
}

TEST_F(PrepareModel, GivesUpWaitingForAQuietMachine) {
  found_.disturbance = 0.21;
  for (int start = 0; start < 3; ++start) EXPECT_TRUE(prepare().preparation.measured_now);
  EXPECT_FALSE(prepare().preparation.measured_now);
  EXPECT_TRUE(prepare().preparation.prepared());
}

TEST_F(PrepareModel, KeepsWhatADisturbedMachineDecidedWhereItCannotMeasureAgain) {
  found_.disturbance = 0.5;
  const PreparedModel first = prepare();
  VirtualClock clock;
  PrepareTools tools{clock, [&clock] { clock.advance(std::chrono::seconds(1)); }};
  const auto lock = prepared().lock(PrepareWait{clock});
  ASSERT_TRUE(lock.ok());
  const PreparedModel second = prepare_model(request_, tools);
  EXPECT_EQ(second.file, first.file);
  EXPECT_FALSE(second.preparation.measured_now);
}

TEST_F(PrepareModel, TakesNoTypeWhoseComparisonFails) {
  tools_.compare = [](const Model&, const Model&, const CompareOptions&) {
    return Result<ModelComparison>(Error{ErrorCode::kModelFailure, "broken", "", {}});
  };
  const PreparedModel outcome = prepare();
  expect_original(outcome);
  EXPECT_NE(outcome.preparation.reason.find("broken"), std::string::npos);
  EXPECT_EQ(kept(), Names{".json"});
}

TEST_F(PrepareModel, ServesTheOriginalOnAFullDisk) {
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  rlimit lowered = limit;
  lowered.rlim_cur = 8'000;
  setrlimit(RLIMIT_FSIZE, &lowered);
  const PreparedModel outcome = prepare();
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, before);
  expect_original(outcome);
  EXPECT_EQ(kept(), Names{}) << "a fragment is left";
  EXPECT_EQ(prepare().preparation.type, WeightType::kQ8_0) << "it is not tried again";
}

TEST_F(PrepareModel, ServesTheOriginalWhereItCannotWrite) {
  std::ofstream(folder_.path() / "file") << "in the way";
  request_.cache_folder = folder_.path() / "file";
  expect_original(prepare());
  request_.cache_folder.clear();
  expect_original(prepare());
  EXPECT_EQ(compared_, 0);
}

TEST_F(PrepareModel, ServesTheOriginalWhileAnotherProcessHoldsTheLock) {
  VirtualClock clock;
  PrepareTools tools{clock, [&clock] { clock.advance(std::chrono::seconds(1)); }};
  tools.compare = tools_.compare;
  PrepareWait wait{clock};
  const auto lock = prepared().lock(wait);
  ASSERT_TRUE(lock.ok());
  expect_original(prepare_model(request_, tools));
  EXPECT_EQ(compared_, 0);
}

TEST_F(PrepareModel, MeasuresOnceWhenTwoStartTogether) {
  PreparedModel first;
  PreparedModel second;
  PrepareTools silent{clock_, [] { std::this_thread::yield(); }};
  silent.compare = tools_.compare;
  std::thread other([&] { second = prepare_model(request_, silent); });
  first = prepare_model(request_, silent);
  other.join();
  EXPECT_EQ(compared_, 2) << "one for each type";
  EXPECT_EQ(first.file, second.file);
  EXPECT_TRUE(first.preparation.prepared());
  EXPECT_NE(first.preparation.measured_now, second.preparation.measured_now);
}

TEST_F(PrepareModel, LeavesAFileThatIsNoModelToTheLoader) {
  std::ofstream(source()) << "text";
  expect_original(prepare());
  EXPECT_EQ(kept(), Names{});
}

}  // namespace
}  // namespace zerohop

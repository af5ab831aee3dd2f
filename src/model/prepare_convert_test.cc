#include "model/prepare_convert.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "model/llama_test_model.h"
#include "model/llama_test_tiny.h"
#include "model/prepare_score.h"

namespace zerohop {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Files may not grow beyond so many bytes while it lives: as on a disk that runs full.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit lowered = before_;
    lowered.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &lowered);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*signal_)(int);
};

class ConvertWeights : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    source_ = path("source.gguf");
    write_tiny_model(source_, TinyKind::kDense);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  Result<void> convert(const std::string& from, const std::string& to, WeightType type) {
    Conversion conversion;
    conversion.source = from;
    conversion.target = to;
    conversion.type = type;
    conversion.threads = 2;
    conversion.progress = [this](double share) { shares_.push_back(share); };
    return convert_weights(conversion);
  }

  static std::unique_ptr<Model> load(const std::string& file) {
    LlamaModelOptions options;
    options.path = file;
    auto loaded = load_llama_model(options);
    EXPECT_TRUE(loaded.ok()) << loaded.error().message;
    return loaded.ok() ? std::move(loaded).value() : nullptr;
  }

  const fs::path folder_ = fs::temp_directory_path() / ("zerohop-convert-" + os_random_text(12));
  std::string source_;
  std::vector<double> shares_;
};

TEST(WeightType, NamesComeBack) {
  for (const WeightType type : {WeightType::kOriginal, WeightType::kQ8_0, WeightType::kQ4_0}) {
    EXPECT_EQ(weight_type_named(weight_type_name(type)), type);
  }
  EXPECT_EQ(weight_type_named("Q9_9"), std::nullopt);
}

TEST_F(ConvertWeights, ReadsWhatTheHeadSays) {
  const auto file = read_weight_file(source_);
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->architecture, "llama");
  EXPECT_EQ(file->main_type, "F32");
  EXPECT_EQ(file->bytes, fs::file_size(source_));
  EXPECT_NE(file->fingerprint, 0u);
  EXPECT_EQ(file->experts, 0u);
  EXPECT_FALSE(file->in_parts);
  EXPECT_LT(file->bytes_q4_0, file->bytes_q8_0);
  EXPECT_LT(file->bytes_q8_0, file->bytes);
}

TEST_F(ConvertWeights, RefusesToReadWhatIsNoModel) {
  std::ofstream(path("text.gguf")) << "not a model at all, but long enough for a header";
  EXPECT_EQ(read_weight_file(path("text.gguf")).error().code, ErrorCode::kModelUnavailable);
  std::ofstream(path("cut.gguf")) << bytes_of(source_).substr(0, 200);
  EXPECT_EQ(read_weight_file(path("cut.gguf")).error().code, ErrorCode::kModelUnavailable);
  EXPECT_FALSE(read_weight_file(path("missing.gguf")).ok());
}

TEST_F(ConvertWeights, WritesTheTypeAndTheSizeThatWerePromised) {
  const auto before = read_weight_file(source_);
  ASSERT_TRUE(before.ok());
  for (const WeightType type : {WeightType::kQ8_0, WeightType::kQ4_0}) {
    const std::string target = path("target.gguf");
    const auto converted = convert(source_, target, type);
    ASSERT_TRUE(converted.ok()) << converted.error().message;
    const auto after = read_weight_file(target);
    ASSERT_TRUE(after.ok()) << after.error().message;
    EXPECT_EQ(after->main_type, weight_type_name(type));
    EXPECT_NEAR(static_cast<double>(after->bytes), static_cast<double>(before->bytes_as(type)),
                0.1 * static_cast<double>(after->bytes));
    EXPECT_NE(after->fingerprint, before->fingerprint);
  }
}

TEST_F(ConvertWeights, TellsHowFarItIs) {
  ASSERT_TRUE(convert(source_, path("target.gguf"), WeightType::kQ8_0).ok());
  ASSERT_GT(shares_.size(), 3u);
  EXPECT_TRUE(std::ranges::is_sorted(shares_));
  EXPECT_GT(shares_.front(), 0);
  EXPECT_EQ(shares_.back(), 1);
}

TEST_F(ConvertWeights, GivesTheSameBytesEachTime) {
  ASSERT_TRUE(convert(source_, path("first.gguf"), WeightType::kQ8_0).ok());
  ASSERT_TRUE(convert(source_, path("second.gguf"), WeightType::kQ8_0).ok());
  EXPECT_EQ(bytes_of(path("first.gguf")), bytes_of(path("second.gguf")));
  EXPECT_EQ(whole_file_checksum(path("first.gguf")), whole_file_checksum(path("second.gguf")));
}

TEST_F(ConvertWeights, LosesNothingWhenTheTypeIsTheSame) {
  ASSERT_TRUE(convert(source_, path("first.gguf"), WeightType::kQ8_0).ok());
  ASSERT_TRUE(convert(path("first.gguf"), path("second.gguf"), WeightType::kQ8_0).ok());
  const auto first = load(path("first.gguf"));
  const auto second = load(path("second.gguf"));
  ASSERT_TRUE(first != nullptr && second != nullptr);
  const SteadyClock clock;
  CompareOptions options;
  options.clock = &clock;
  const auto found = compare_models(*first, *second, options);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->divergence.kl_max, 0);
  EXPECT_EQ(found->divergence.same_first, 1);
  EXPECT_GT(found->original.prefill, 0);
  EXPECT_GT(found->converted.batch, 0);
}

TEST_F(ConvertWeights, FewerBitsLoseMore) {
  ASSERT_TRUE(convert(source_, path("q8.gguf"), WeightType::kQ8_0).ok());
  ASSERT_TRUE(convert(source_, path("q4.gguf"), WeightType::kQ4_0).ok());
  const auto original = load(source_);
  const SteadyClock clock;
  CompareOptions options;
  options.clock = &clock;
  const auto eight = compare_models(*original, *load(path("q8.gguf")), options);
  const auto four = compare_models(*original, *load(path("q4.gguf")), options);
  ASSERT_TRUE(eight.ok() && four.ok());
  EXPECT_GT(eight->divergence.kl_mean, 0);
  EXPECT_GT(four->divergence.kl_mean, 4 * eight->divergence.kl_mean);
}

TEST_F(ConvertWeights, WorksForModelsWithSlidingWindows) {
  write_tiny_model(source_, TinyKind::kWindow);
  const auto converted = convert(source_, path("target.gguf"), WeightType::kQ8_0);
  ASSERT_TRUE(converted.ok()) << converted.error().message;
  const SteadyClock clock;
  CompareOptions options;
  options.clock = &clock;
  const auto found = compare_models(*load(source_), *load(path("target.gguf")), options);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_GT(found->divergence.kl_mean, 0);
  EXPECT_GT(found->converted.batch, 0);
}

TEST_F(ConvertWeights, LeavesNothingBehindOnAFullDisk) {
  const std::string target = path("target.gguf");
  const std::uint64_t whole = read_weight_file(source_)->bytes_q8_0;
  // Inside the head, at several places of the weights, and shortly before the end.
  for (const std::uint64_t room : {std::uint64_t{100}, whole / 4, whole / 2, whole - 200}) {
    const FullDisk disk(room);
    const auto converted = convert(source_, target, WeightType::kQ8_0);
    ASSERT_FALSE(converted.ok()) << room;
    EXPECT_TRUE(converted.error().message.ends_with("is the disk full?"))
        << converted.error().message;
    EXPECT_FALSE(fs::exists(target)) << room;
  }
  EXPECT_TRUE(convert(source_, target, WeightType::kQ8_0).ok());
}

TEST_F(ConvertWeights, SaysWhenItCannotWriteOrRead) {
  EXPECT_FALSE(convert(source_, path("no/such/folder.gguf"), WeightType::kQ8_0).ok());
  EXPECT_FALSE(convert(path("missing.gguf"), path("target.gguf"), WeightType::kQ8_0).ok());
  EXPECT_FALSE(fs::exists(path("target.gguf")));
  EXPECT_EQ(whole_file_checksum(path("missing.gguf")), std::nullopt);
}

TEST_F(ConvertWeights, NoticesADifferenceInTheMetadata) {
  ASSERT_TRUE(convert(source_, path("target.gguf"), WeightType::kQ8_0).ok());
  EXPECT_TRUE(check_conversion(source_, path("target.gguf")).ok());
  std::string bytes = bytes_of(path("target.gguf"));
  const std::size_t key = bytes.find("llama.context_length");
  ASSERT_NE(key, bytes.npos);
  bytes[key + std::string_view("llama.context_length").size() + 4] ^= 1;  // behind its type
  std::ofstream(path("other.gguf"), std::ios::binary) << bytes;
  const auto checked = check_conversion(source_, path("other.gguf"));
  ASSERT_FALSE(checked.ok());
  EXPECT_NE(checked.error().message.find("llama.context_length"), std::string::npos)
      << checked.error().message;
}

TEST_F(ConvertWeights, NoticesAShortFile) {
  ASSERT_TRUE(convert(source_, path("target.gguf"), WeightType::kQ8_0).ok());
  fs::resize_file(path("target.gguf"), fs::file_size(path("target.gguf")) - 100);
  EXPECT_FALSE(check_conversion(source_, path("target.gguf")).ok());
}

TEST_F(ConvertWeights, KeepsTokenizerAndTemplateOfTheDefaultModelAndStaysCloseToIt) {
  ASSERT_NE(default_model(), nullptr);
  const Model& original = *default_model();
  const std::string target = path("target.gguf");
  const auto written = convert(default_model_path(), target, WeightType::kQ8_0);
  ASSERT_TRUE(written.ok()) << written.error().message;
  const auto converted = load(target);
  ASSERT_NE(converted, nullptr);
  EXPECT_EQ(converted->info().vocabulary, original.info().vocabulary);
  EXPECT_EQ(converted->info().parameters, original.info().parameters);
  EXPECT_EQ(converted->info().kv_bytes_per_cell, original.info().kv_bytes_per_cell);
  EXPECT_EQ(converted->tokenizer().special_texts(), original.tokenizer().special_texts());
  const std::vector<TemplateMessage> messages{{"system", "Be brief."}, {"user", "Naïve? 🙂"}};
  TemplateInput input;
  input.messages = messages;
  const auto prompt = original.chat_template().render(input);
  ASSERT_TRUE(prompt.ok());
  EXPECT_EQ(*converted->chat_template().render(input), *prompt);
  EXPECT_EQ(converted->tokenizer().tokenize(*prompt, SpecialTokens::kParse),
            original.tokenizer().tokenize(*prompt, SpecialTokens::kParse));

  const SteadyClock clock;
  CompareOptions options;
  options.clock = &clock;
  options.threads = 2;
  const auto found = compare_models(original, *converted, options);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_GT(found->divergence.kl_mean, 0.0005);
  EXPECT_LT(found->divergence.kl_mean, 0.02);
  EXPECT_GT(found->divergence.same_first, 0.9);
}

}  // namespace
}  // namespace zerohop

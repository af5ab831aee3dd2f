#include "app/model_prepare_choice.h"

#include <gtest/gtest.h>

#include <limits>

namespace zerohop {
namespace {

constexpr std::uint64_t kMebibyte = 1 << 20;
constexpr PrepareRoom kRoomy{2048 * kMebibyte, 16384 * kMebibyte};
constexpr PrepareRule kSafe{PreparePolicy::kSafe, 0.02};
constexpr PrepareRule kFast{PreparePolicy::kFast, 0.02};

WeightFile small_file(const std::string& type = "Q4_1") {
  WeightFile file;
  file.architecture = "llama";
  file.main_type = type;
  file.bytes = 94 * kMebibyte;
  file.bytes_q8_0 = 140 * kMebibyte;
  file.bytes_q4_0 = 75 * kMebibyte;
  return file;
}

struct Ratios {
  double prefill = 1;
  double batch = 1;
  double single = 1;
  double kl = 0;
};

PrepareCandidate candidate(WeightType type, const Ratios& ratios) {
  PrepareCandidate made;
  made.type = type;
  made.figures.divergence.tokens = 256;
  made.figures.divergence.kl_mean = ratios.kl;
  made.figures.original = {300, 200, 90};
  made.figures.converted = {300 * ratios.prefill, 200 * ratios.batch, 90 * ratios.single};
  return made;
}

// As measured on two AVX-512 cores with the default model.
const PrepareCandidate kEight = candidate(WeightType::kQ8_0, {1.89, 1.35, 0.85, 0.006});
const PrepareCandidate kFour = candidate(WeightType::kQ4_0, {2.64, 2.06, 1.36, 0.40});

WeightType chosen(const std::vector<PrepareCandidate>& candidates, const PrepareRule& rule) {
  return choose_weights(candidates, rule).type;
}

TEST(WhyLeftAlone, TakesASmallFileOfFewBits) {
  EXPECT_EQ(why_left_alone(small_file(), kSafe, kRoomy), std::nullopt);
  EXPECT_EQ(why_left_alone(small_file("Q4_K"), kFast, kRoomy), std::nullopt);
}

TEST(WhyLeftAlone, NamesItsReason) {
  EXPECT_EQ(why_left_alone(small_file(), {PreparePolicy::kOff, 0.02}, kRoomy),
            "model.prepare is off");
  WeightFile parts = small_file();
  parts.in_parts = true;
  EXPECT_EQ(why_left_alone(parts, kFast, kRoomy), "its file is in several parts");
  WeightFile mixture = small_file();
  mixture.experts = 8;
  EXPECT_EQ(why_left_alone(mixture, kFast, kRoomy), "it is a mixture of experts");
  EXPECT_EQ(why_left_alone(small_file(""), kFast, kRoomy), "it has no matrices");
}

TEST(WhyLeftAlone, SafeTouchesNoExactWeights) {
  for (const char* type : {"F32", "F16", "BF16", "Q8_0"}) {
    EXPECT_EQ(why_left_alone(small_file(type), kSafe, kRoomy),
              "its weights are " + std::string(type));
    EXPECT_EQ(why_left_alone(small_file(type), kFast, kRoomy), std::nullopt) << type;
  }
}

TEST(WhyLeftAlone, ConvertsNothingLargeUnasked) {
  WeightFile large = small_file();
  large.bytes_q8_0 = 2049 * kMebibyte;
  const auto why = why_left_alone(large, kSafe, kRoomy);
  ASSERT_TRUE(why.has_value());
  EXPECT_NE(why->find("2049 MiB"), why->npos) << *why;
  EXPECT_NE(why->find("allow 2048"), why->npos) << *why;
  // A quarter of the free memory.
  EXPECT_TRUE(why_left_alone(small_file(), kSafe, {2048 * kMebibyte, 559 * kMebibyte}));
  EXPECT_FALSE(why_left_alone(small_file(), kSafe, {2048 * kMebibyte, 560 * kMebibyte}));
}

TEST(WhyLeftAlone, NamesTheSmallestOfTheTypesThatItWouldTry) {
  WeightFile large = small_file();
  large.bytes_q8_0 = 4000 * kMebibyte;
  large.bytes_q4_0 = 2100 * kMebibyte;
  const auto size_named = [](const WeightFile& file, const PrepareRule& rule) {
    const std::string why = why_left_alone(file, rule, kRoomy).value_or("");
    return why.substr(0, why.find(';'));
  };
  EXPECT_EQ(size_named(large, kSafe), "converted it would take 4000 MiB");
  EXPECT_EQ(size_named(large, kFast), "converted it would take 2100 MiB");
  EXPECT_EQ(size_named(large, {PreparePolicy::kSafe, 0.5}), "converted it would take 2100 MiB");
  large.main_type = "Q8_0";  // which is not tried again
  EXPECT_EQ(size_named(large, kFast), "converted it would take 2100 MiB");
  large.main_type = "Q4_0";
  EXPECT_EQ(size_named(large, kFast), "converted it would take 4000 MiB");
}

TEST(CandidateTypes, SafeTriesFourBitsOnlyUnderAWideLimit) {
  using Types = std::vector<WeightType>;
  const Types both{WeightType::kQ8_0, WeightType::kQ4_0};
  EXPECT_EQ(candidate_types(small_file(), kSafe, kRoomy), Types{WeightType::kQ8_0});
  EXPECT_EQ(candidate_types(small_file(), kFast, kRoomy), both);
  EXPECT_EQ(candidate_types(small_file(), {PreparePolicy::kSafe, 0.5}, kRoomy), both);
}

TEST(CandidateTypes, LeaveOutTheTypeThatIsThereAndWhatDoesNotFit) {
  using Types = std::vector<WeightType>;
  EXPECT_EQ(candidate_types(small_file("Q8_0"), kFast, kRoomy), Types{WeightType::kQ4_0});
  EXPECT_EQ(candidate_types(small_file("Q4_0"), kFast, kRoomy), Types{WeightType::kQ8_0});
  const PrepareRoom narrow{100 * kMebibyte, kRoomy.free_memory};
  EXPECT_EQ(candidate_types(small_file(), kFast, narrow), Types{WeightType::kQ4_0});
}

TEST(ChooseWeights, SafeTakesWhatStaysUnderTheLimitAndFastWhatIsFastest) {
  EXPECT_EQ(chosen({kEight, kFour}, kSafe), WeightType::kQ8_0);
  EXPECT_EQ(chosen({kFour}, kSafe), WeightType::kOriginal);
  EXPECT_EQ(chosen({kEight, kFour}, kFast), WeightType::kQ4_0);
  EXPECT_EQ(chosen({kEight, kFour}, {PreparePolicy::kSafe, 0.4}), WeightType::kQ4_0);
  EXPECT_EQ(chosen({kEight, kFour}, {PreparePolicy::kSafe, 0.005}), WeightType::kOriginal);
}

TEST(ChooseWeights, FastHasItsLimitToo) {
  EXPECT_EQ(chosen({candidate(WeightType::kQ4_0, {3, 3, 3, 1.1})}, kFast), WeightType::kOriginal);
}

TEST(ChooseWeights, NeedsATenthAndASingleStreamThatKeepsItsPace) {
  EXPECT_EQ(chosen({candidate(WeightType::kQ8_0, {1.2, 1.0, 1, 0})}, kSafe), WeightType::kOriginal);
  EXPECT_EQ(chosen({candidate(WeightType::kQ8_0, {1.25, 1.0, 1, 0})}, kSafe), WeightType::kQ8_0);
  EXPECT_EQ(chosen({candidate(WeightType::kQ8_0, {2, 2, 0.79, 0})}, kSafe), WeightType::kOriginal);
  EXPECT_EQ(chosen({candidate(WeightType::kQ8_0, {2, 2, 0.81, 0})}, kSafe), WeightType::kQ8_0);
}

TEST(ChooseWeights, TakesNothingWithoutFigures) {
  EXPECT_EQ(chosen({}, kSafe), WeightType::kOriginal);
  PrepareCandidate faulty = kEight;
  faulty.fault = "logits are not finite";
  EXPECT_EQ(chosen({faulty}, kSafe), WeightType::kOriginal);
  EXPECT_NE(choose_weights(std::vector{faulty}, kSafe).reason.find("not finite"),
            std::string::npos);
  PrepareCandidate unmeasured = kEight;
  unmeasured.figures.original.batch = 0;
  EXPECT_EQ(chosen({unmeasured}, kSafe), WeightType::kOriginal);
  PrepareCandidate odd = kEight;
  odd.figures.divergence.kl_mean = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(chosen({odd}, kFast), WeightType::kOriginal);
}

TEST(ChooseWeights, SaysWhy) {
  EXPECT_EQ(choose_weights(std::vector{kEight}, kSafe).reason,
            "Q8_0: prefill 1.89x, 8 streams 1.35x, one 0.85x, divergence 0.006 nats");
  EXPECT_EQ(choose_weights(std::vector{kFour}, kSafe).reason,
            "Q4_0: its divergence of 0.4 nats is over the limit of 0.02");
}

}  // namespace
}  // namespace zerohop

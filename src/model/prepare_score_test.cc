#include "model/prepare_score.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "model/fake_model.h"
#include "model/llama_test_tiny.h"

namespace zerohop {
namespace {

CompareOptions options_with(const Clock& clock) {
  CompareOptions options;
  options.clock = &clock;
  return options;
}

TEST(LogitDivergence, OfEqualRowsIsExactlyZero) {
  const std::vector<float> row{0.5f, -3.0f, 7.25f, 7.0f};
  EXPECT_EQ(logit_divergence(row, row), 0);
  // Only differences of logits count.
  const std::vector<float> higher{2.5f, -1.0f, 9.25f, 9.0f};
  EXPECT_NEAR(logit_divergence(row, higher), 0, 1e-7);
}

TEST(LogitDivergence, IsTheOneOfTheDefinition) {
  const std::vector<float> even{0, 0};
  const std::vector<float> skewed{std::log(3.0f), 0};  // 3/4 and 1/4
  EXPECT_NEAR(logit_divergence(even, skewed), 0.5 * std::log(0.5 / 0.75) + 0.5 * std::log(2.0),
              1e-6);
  EXPECT_NEAR(logit_divergence(skewed, even), 0.75 * std::log(1.5) + 0.25 * std::log(0.5), 1e-6);
}

TEST(LogitDivergence, IsNotFiniteWhenALogitIsNot) {
  const std::vector<float> row{1, 2};
  const std::vector<float> broken{1, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_FALSE(std::isfinite(logit_divergence(row, broken)));
}

TEST(PreparationText, IsLongEnoughForEveryPart) {
  // 512 tokens at the least, in vocabularies whose tokens are six bytes long on average.
  EXPECT_GT(preparation_text().size(), 512u * 6);
}

TEST(CompareModels, FindsNothingBetweenAModelAndItself) {
  const SteadyClock clock;
  const auto model = make_fake_model({});
  const auto found = compare_models(*model, *model, options_with(clock));
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->divergence.kl_mean, 0);
  EXPECT_EQ(found->divergence.kl_max, 0);
  EXPECT_EQ(found->divergence.same_first, 1);
  EXPECT_EQ(found->divergence.perplexity, found->divergence.perplexity_original);
  EXPECT_GT(found->divergence.perplexity, 1);
  EXPECT_EQ(found->divergence.tokens, 256u) << "more text was read than the verdict needed";
}

TEST(CompareModels, FindsTheDifferenceOfTwoModels) {
  const SteadyClock clock;
  const auto original = make_fake_model({});
  FakeModelOptions options;
  options.seed = 2;
  const auto found = compare_models(*original, *make_fake_model(options), options_with(clock));
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_GT(found->divergence.kl_mean, 0.1);
  EXPECT_GE(found->divergence.kl_max, found->divergence.kl_mean);
  EXPECT_LT(found->divergence.same_first, 0.5);
}

TEST(CompareModels, ReadsOnWhileTheMeanIsCloseToTheLimit) {
  const SteadyClock clock;
  const auto original = make_fake_model({});
  FakeModelOptions other;
  other.seed = 2;
  const auto converted = make_fake_model(other);
  CompareOptions options = options_with(clock);
  const auto early = compare_models(*original, *converted, options);
  ASSERT_TRUE(early.ok());
  EXPECT_EQ(early->divergence.tokens, 256u);
  options.kl_limit = early->divergence.kl_mean;
  const auto late = compare_models(*original, *converted, options);
  ASSERT_TRUE(late.ok());
  EXPECT_GT(late->divergence.tokens, 256u);
}

TEST(CompareModels, TimesBothModelsByTheClock) {
  VirtualClock clock;
  FakeModelOptions slow;
  slow.clock = &clock;
  slow.cost = {std::chrono::milliseconds(10), std::chrono::milliseconds(1), Duration{}};
  FakeModelOptions quick = slow;
  quick.cost.base = std::chrono::milliseconds(2);
  const auto found =
      compare_models(*make_fake_model(slow), *make_fake_model(quick), options_with(clock));
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_NEAR(found->original.single, 1 / 0.011, 1e-6);
  EXPECT_NEAR(found->original.batch, 8 / 0.018, 1e-6);
  EXPECT_NEAR(found->original.prefill, 256 / 0.266, 1e-6);
  EXPECT_NEAR(found->converted.single, 1 / 0.003, 1e-6);
  EXPECT_NEAR(found->converted.batch, 8 / 0.010, 1e-6);
  EXPECT_NEAR(found->converted.prefill, 256 / 0.258, 1e-6);
}

TEST(CompareModels, NoticesWhenSomethingDisturbsTheMachineMeanwhile) {
  VirtualClock clock;
  FakeModelOptions options;
  options.clock = &clock;
  options.cost = {std::chrono::milliseconds(10), std::chrono::milliseconds(1), Duration{}};
  const auto quiet = make_fake_model(options);
  EXPECT_EQ(compare_models(*quiet, *quiet, options_with(clock))->disturbance, 0);
  // From its last quarter on every step of the second model takes 22 ms longer.
  int decodes = 0;
  options.fault = [&](std::span<const BatchRow>) {
    ++decodes;
    return DecodeStatus::kOk;
  };
  ASSERT_TRUE(compare_models(*quiet, *make_fake_model(options), options_with(clock)).ok());
  const int from = decodes - 6;
  decodes = 0;
  options.fault = [&](std::span<const BatchRow>) {
    if (++decodes > from - 6) clock.advance(std::chrono::milliseconds(22));
    return DecodeStatus::kOk;
  };
  const auto found = compare_models(*quiet, *make_fake_model(options), options_with(clock));
  ASSERT_TRUE(found.ok());
  EXPECT_NEAR(found->disturbance, 1 - 11.0 / 33.0, 1e-6);
  EXPECT_NEAR(found->converted.single, 1 / 0.011, 1e-6) << "the best counts";
}

TEST(CompareModels, MeasuresNoSpeedWithAClockThatStands) {
  const VirtualClock clock;
  const auto model = make_fake_model({});
  const auto found = compare_models(*model, *model, options_with(clock));
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->original.prefill, 0);
  EXPECT_EQ(found->converted.single, 0);
}

TEST(CompareModels, RefusesWhatCannotBeCompared) {
  const SteadyClock clock;
  const auto model = make_fake_model({});
  CompareOptions options = options_with(clock);
  options.text = "Too short.";
  EXPECT_EQ(compare_models(*model, *model, options).error().code, ErrorCode::kModelFailure);
  const auto tiny = load_tiny_model(TinyKind::kDense);
  ASSERT_NE(tiny, nullptr);
  const auto foreign = compare_models(*model, *tiny, options_with(clock));
  ASSERT_FALSE(foreign.ok());
  EXPECT_EQ(foreign.error().message, "the vocabularies differ");
}

TEST(CompareModels, ReportsAModelThatFails) {
  const SteadyClock clock;
  const auto model = make_fake_model({});
  FakeModelOptions broken;
  broken.not_finite = [](const BatchRow& row) { return row.position == 300; };
  const auto found = compare_models(*model, *make_fake_model(broken), options_with(clock));
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().message, "logits are not finite");
  FakeModelOptions failing;
  failing.fault = [](std::span<const BatchRow> rows) {
    return rows.size() == 8 ? DecodeStatus::kFatal : DecodeStatus::kOk;
  };
  EXPECT_FALSE(compare_models(*model, *make_fake_model(failing), options_with(clock)).ok());
}

}  // namespace
}  // namespace zerohop

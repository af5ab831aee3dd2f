#include "engine/layout_choice.h"

#include <gtest/gtest.h>

#include "model/fake_model.h"

namespace zerohop {
namespace {

LayoutFigures figures(KvLayout layout, FlashAttention flash, double step_short, double step_long) {
  LayoutFigures figures;
  figures.layout = layout;
  figures.flash_attention = flash;
  figures.measured = true;
  figures.sequences = 8;
  figures.cells_short = 64;
  figures.cells_long = 512;
  figures.step_short_ms = step_short;
  figures.step_long_ms = step_long;
  figures.reuse_token_us = layout == KvLayout::kUnified ? 0.1 : 9;
  return figures;
}

// The default model as Q8_0 on two cores: 262 and 135 tokens/s in the pool, 261 and 183 as streams.
KvLayoutChoiceReport two_core_report(std::uint32_t shared) {
  KvLayoutChoiceReport report;
  report.workload.shared = shared;
  report.candidates[0] = figures(KvLayout::kUnified, FlashAttention::kOn, 30.5, 59.3);
  report.candidates[1] = figures(KvLayout::kStreams, FlashAttention::kOn, 30.7, 43.7);
  return report;
}

TEST(LayoutChoice, StreamsWinWhereContextsAreLongAndNothingIsShared) {
  KvLayoutChoiceReport report = two_core_report(0);
  choose_layout(report);
  EXPECT_EQ(report.layout, KvLayout::kStreams);
  EXPECT_TRUE(report.measured);
  EXPECT_NE(report.reason.find("streams with flash attention"), std::string::npos) << report.reason;
}

TEST(LayoutChoice, ThePoolWinsWhereMostIsShared) {
  KvLayoutChoiceReport report = two_core_report(768);
  choose_layout(report);
  EXPECT_EQ(report.layout, KvLayout::kUnified);
  EXPECT_LT(report.candidates[0].request_ms, report.candidates[1].request_ms);
}

TEST(LayoutChoice, ASmallAdvantageDoesNotTakeThePoolAway) {
  KvLayoutChoiceReport report;
  report.workload.shared = 0;
  report.candidates[0] = figures(KvLayout::kUnified, FlashAttention::kOn, 31, 44);
  report.candidates[1] = figures(KvLayout::kStreams, FlashAttention::kOn, 30, 43);
  choose_layout(report);
  EXPECT_LT(report.candidates[1].request_ms, report.candidates[0].request_ms);
  EXPECT_EQ(report.layout, KvLayout::kUnified);
}

TEST(LayoutChoice, FlashAttentionGoesWhereItIsClearlySlower) {
  KvLayoutChoiceReport report;
  report.candidates[0] = figures(KvLayout::kUnified, FlashAttention::kOn, 30, 40);
  report.candidates[1] = figures(KvLayout::kUnified, FlashAttention::kOff, 30, 39.9);
  choose_layout(report);
  EXPECT_EQ(report.flash_attention, FlashAttention::kOn);
  report.candidates[1] = figures(KvLayout::kUnified, FlashAttention::kOff, 25, 33);
  choose_layout(report);
  EXPECT_EQ(report.flash_attention, FlashAttention::kOff);
}

TEST(LayoutChoice, WithoutFiguresItIsThePoolAndTheReportSaysWhy) {
  KvLayoutChoiceReport report;
  choose_layout(report);
  EXPECT_EQ(report.layout, KvLayout::kUnified);
  EXPECT_EQ(report.flash_attention, FlashAttention::kAuto);
  EXPECT_FALSE(report.measured);
  EXPECT_FALSE(report.reason.empty());
}

ContextOptions engine_options() {
  ContextOptions options;
  options.sequences = 4;
  options.window = 4096;
  options.cells = 100'000;
  return options;
}

TEST(MeasureLayouts, FillsInTheFiguresOfEveryCandidate) {
  VirtualClock clock;
  FakeModelOptions fake;
  fake.clock = &clock;
  fake.cost = {std::chrono::milliseconds(1), std::chrono::microseconds(100),
               std::chrono::nanoseconds(100)};
  const auto model = make_fake_model(fake);
  LayoutProbe probe;
  probe.clock = &clock;
  probe.budget = std::chrono::seconds(10);
  const KvLayoutChoiceReport report = measure_layouts(*model, engine_options(), probe);
  EXPECT_TRUE(report.measured);
  EXPECT_EQ(report.layout, KvLayout::kUnified) << "the fake's layouts cost the same";
  EXPECT_EQ(report.flash_attention, FlashAttention::kOn);
  for (const LayoutFigures& candidate : report.candidates) {
    ASSERT_TRUE(candidate.measured);
    EXPECT_EQ(candidate.sequences, 4u);
    // 1 ms + 4 rows × (0.1 ms + 0.1 µs a cell), one cell more than was filled
    EXPECT_NEAR(candidate.step_short_ms, 1.4 + 4 * 65 * 1e-4, 1e-9);
    EXPECT_NEAR(candidate.step_long_ms, 1.4 + 4 * 1025 * 1e-4, 1e-9);
    EXPECT_GT(candidate.request_ms, 0);
  }
  EXPECT_EQ(report.workload.prompt, 1024u);
  EXPECT_EQ(report.workload.shared, 512u);
  EXPECT_NEAR(report.spent_ms, to_milliseconds(clock.now().time_since_epoch()), 1e-9);
}

TEST(MeasureLayouts, StopsWhenItsTimeIsUp) {
  VirtualClock clock;
  FakeModelOptions fake;
  fake.clock = &clock;
  fake.cost.base = std::chrono::milliseconds(100);
  const auto model = make_fake_model(fake);
  LayoutProbe probe;
  probe.clock = &clock;
  probe.budget = std::chrono::milliseconds(500);
  const KvLayoutChoiceReport report = measure_layouts(*model, engine_options(), probe);
  EXPECT_TRUE(report.candidates[0].measured);
  EXPECT_FALSE(report.candidates[3].measured);
  EXPECT_EQ(report.layout, KvLayout::kUnified);
  EXPECT_TRUE(report.measured) << "what is known counts";
  // A step that runs when the time is up is aborted between two of its rows.
  EXPECT_LE(report.spent_ms, 500 + 110);
}

// A neighbour takes the cores away: one step lasts seconds.
TEST(MeasureLayouts, StopsInTheMiddleOfAStepThatDoesNotEnd) {
  VirtualClock clock;
  FakeModelOptions fake;
  fake.clock = &clock;
  fake.cost.per_row = std::chrono::seconds(1);
  const auto model = make_fake_model(fake);
  LayoutProbe probe;
  probe.clock = &clock;
  const KvLayoutChoiceReport report = measure_layouts(*model, engine_options(), probe);
  EXPECT_FALSE(report.measured);
  EXPECT_EQ(report.layout, KvLayout::kUnified);
  EXPECT_LE(report.spent_ms, 1500 + 1010);
}

TEST(MeasureLayouts, KeepsTheFlashAttentionThatWasAskedFor) {
  VirtualClock clock;
  FakeModelOptions fake;
  fake.clock = &clock;
  const auto model = make_fake_model(fake);
  LayoutProbe probe;
  probe.clock = &clock;
  probe.budget = std::chrono::seconds(60);
  ContextOptions options = engine_options();
  options.flash_attention = FlashAttention::kOff;
  const KvLayoutChoiceReport report = measure_layouts(*model, options, probe);
  EXPECT_EQ(report.flash_attention, FlashAttention::kOff);
  EXPECT_TRUE(report.candidates[1].measured);
  EXPECT_FALSE(report.candidates[2].measured);
}

TEST(MeasureLayouts, NothingThatFailsKeepsTheServerFromStarting) {
  VirtualClock clock;
  FakeModelOptions fake;
  fake.fault = [](std::span<const BatchRow>) { return DecodeStatus::kFatal; };
  const auto model = make_fake_model(fake);
  LayoutProbe probe;
  probe.clock = &clock;
  const KvLayoutChoiceReport broken = measure_layouts(*model, engine_options(), probe);
  EXPECT_EQ(broken.layout, KvLayout::kUnified);
  EXPECT_FALSE(broken.measured);
  ContextOptions tiny = engine_options();
  tiny.window = 12;
  EXPECT_FALSE(measure_layouts(*make_fake_model({}), tiny, probe).measured);
  EXPECT_FALSE(measure_layouts(*make_fake_model({}), tiny, probe).reason.empty());
}

TEST(LayoutChoiceKey, ChangesWithWhateverTheFiguresDependOn) {
  const auto model = make_fake_model({});
  const std::string key = layout_choice_key(model->info(), engine_options(), "cpu");
  EXPECT_EQ(key, layout_choice_key(model->info(), engine_options(), "cpu"));
  EXPECT_NE(key, layout_choice_key(model->info(), engine_options(), "other"));
  ContextOptions options = engine_options();
  options.threads = 2;
  EXPECT_NE(key, layout_choice_key(model->info(), options, "cpu"));
}

}  // namespace
}  // namespace zerohop

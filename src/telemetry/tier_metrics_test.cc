#include "telemetry/tier_metrics.h"

#include <gtest/gtest.h>

#include <string>

#include "telemetry/metrics_test_kit.h"

namespace zerohop {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Page {
  VirtualClock clock;
  MetricsRegistry registry{{"i", "p"}};
  EngineSnapshot engine;
  TierMetrics tier{registry, clock, {"small", 4, 1'000, 10}};

  Page() {
    registry.at_scrape([this] { tier.steps.publish(engine); });
  }
  void step(Duration pass, std::uint32_t rows) {
    StepTimes times;
    times.kind = StepTimes::Kind::kDecode;
    times.pass = pass;
    times.rows = rows;
    tier.steps.step(times);
    engine.busy += pass;
  }
  std::string value(const std::string& name, const std::string& labels = "") const {
    return value_of(registry, name, labels);
  }
};

const std::string kBusy = "anthropic_instance_gpu_utilization";
const std::string kOccupancy = "anthropic_kernel_gpu_memory_utilization_percent";

TEST(StepMetrics, OccupancyIsTheBusyShareTimesTheFillOfBatches) {
  Page page;
  page.step(seconds(1), 1);  // a quarter full
  page.clock.advance(seconds(4));
  EXPECT_EQ(page.value(kBusy), "0.25");
  EXPECT_EQ(page.value("cortex_gpu_utilization", "model=\"small\""), "0.25");
  EXPECT_EQ(page.value(kOccupancy), "6.25");
  page.step(seconds(1), 512);  // a prompt fills it
  page.clock.advance(seconds(2));
  EXPECT_EQ(page.value(kOccupancy), "50");
  page.clock.advance(seconds(2));
  EXPECT_EQ(page.value(kBusy), "0");
  EXPECT_EQ(page.value(kOccupancy), "0");
}

TEST(StepMetrics, SharesStayForASecond) {
  Page page;
  page.step(seconds(1), 4);
  page.clock.advance(seconds(2));
  EXPECT_EQ(page.value(kBusy), "0.5");
  page.clock.advance(milliseconds(999));
  EXPECT_EQ(page.value(kBusy), "0.5");
}

// Each reading finds that time has gone on.
class RunningClock final : public Clock {
 public:
  TimePoint now() const override { return TimePoint(seconds(++readings_)); }
  WallTime wall() const override { return {}; }
  int readings() const { return readings_; }

 private:
  mutable int readings_ = 0;
};

TEST(StepMetrics, AllOfAPageIsOfOneInstant) {
  const RunningClock clock;
  MetricsRegistry registry({"i", "p"});
  StepMetrics steps(registry, clock, {"small", 4, 1'000, 10});
  EngineSnapshot engine;
  engine.busy = milliseconds(500);
  const int before = clock.readings();
  steps.publish(engine);
  EXPECT_EQ(clock.readings(), before + 1);
  EXPECT_EQ(value_of(registry, kBusy), "0.5");
}

TEST(StepMetrics, TellsMemoryOfModelAndCells) {
  Page page;
  page.engine.cells_total = 100;
  page.engine.cells_active = 20;
  page.engine.cells_cached = 30;
  EXPECT_EQ(page.value("anthropic_instance_gpu_memory_used_bytes"), "1500");
  EXPECT_EQ(page.value("anthropic_instance_gpu_memory_total_bytes"), "2000");
}

TEST(AnswerMetrics, KeepsAStallThatAnAverageHides) {
  Page page;
  for (int i = 0; i < 1'000; ++i) {
    page.tier.answers.next_text(PriorityClass::kStandard, milliseconds(10));
  }
  page.tier.answers.next_text(PriorityClass::kBatch, milliseconds(4'000));
  EXPECT_EQ(page.value("zerohop_itl_max_seconds", "tier=\"small\""), "4");
  page.clock.advance(seconds(61));
  EXPECT_EQ(page.value("zerohop_itl_max_seconds", "tier=\"small\""), "missing");
}

TEST(AnswerMetrics, SharesTheTimeOfTextAmongTheTokensBehindTheFirst) {
  Page page;
  page.tier.answers.ended(PriorityClass::kPriority,
                          {seconds(2), seconds(1), milliseconds(1'000), 11});
  EXPECT_EQ(page.value("zerohop_tpot_seconds_sum", "tier=\"small\",class=\"priority\""), "0.1");
  EXPECT_EQ(page.value("zerohop_tpot_seconds_count", "tier=\"small\",class=\"batch\""), "0");
}

TEST(PromptMetrics, ScoresWhatTheVocabularySaves) {
  Page page;
  EXPECT_EQ(page.value("anthropic_kernel_tokenizer_adaptation_score"), "missing");
  page.tier.prompts.prepared(milliseconds(1), 10, 30);
  page.tier.prompts.prepared(milliseconds(1), 15, 70);
  EXPECT_EQ(page.value("anthropic_kernel_tokenizer_adaptation_score"), "0.75");
  EXPECT_EQ(page.value("anthropic_kernel_tokenizer_latency_ms_count"), "2");
}

}  // namespace
}  // namespace zerohop

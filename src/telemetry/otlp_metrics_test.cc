#include "telemetry/otlp_metrics.h"

#include <gtest/gtest.h>

#include <string>

#include "telemetry/metrics_test_kit.h"

namespace zerohop {
namespace {

TEST(OtlpMetrics, CountsEverySignalResultAndCauseUnderItsName) {
  MetricsRegistry registry({"id", "pool"});
  OtlpMetrics metrics(registry);
  metrics.count_export(OtlpSignal::kTraces, OtlpResult::kPartial);
  metrics.count_export(OtlpSignal::kMetrics, OtlpResult::kUnreachable);
  metrics.count_export(OtlpSignal::kMetrics, OtlpResult::kUnreachable);
  metrics.count_lost(SpanLoss::kShutdown, 7);
  const std::string exports = "zerohop_otlp_exports_total";
  EXPECT_EQ(value_of(registry, exports, R"(signal="traces",result="partial")"), "1");
  EXPECT_EQ(value_of(registry, exports, R"(signal="metrics",result="unreachable")"), "2");
  EXPECT_EQ(value_of(registry, exports, R"(signal="metrics",result="ok")"), "0");
  const std::string dropped = "zerohop_otlp_spans_dropped_total";
  EXPECT_EQ(value_of(registry, dropped, R"(cause="shutdown")"), "7");
  EXPECT_EQ(value_of(registry, dropped, R"(cause="queue_full")"), "0");
}

}  // namespace
}  // namespace zerohop

#include "telemetry/otlp_metrics.h"

#include <gtest/gtest.h>

#include <string>

namespace zerohop {
namespace {

TEST(OtlpMetrics, CountsEverySignalResultAndCauseUnderItsName) {
  MetricsRegistry registry({"id", "pool"});
  OtlpMetrics metrics(registry);
  metrics.count_export(OtlpSignal::kTraces, OtlpResult::kPartial);
  metrics.count_export(OtlpSignal::kMetrics, OtlpResult::kUnreachable);
  metrics.count_export(OtlpSignal::kMetrics, OtlpResult::kUnreachable);
  metrics.count_lost(SpanLoss::kShutdown, 7);
  const std::string page = registry.prometheus_text();
  const std::string identity = R"({instance_id="id",pool="pool",)";
  for (const char* line :
       {R"(signal="traces",result="partial"} 1)", R"(signal="metrics",result="unreachable"} 2)",
        R"(signal="metrics",result="ok"} 0)"}) {
    EXPECT_NE(page.find("zerohop_otlp_exports_total" + identity + line + "\n"), page.npos) << page;
  }
  for (const char* line : {R"(cause="shutdown"} 7)", R"(cause="queue_full"} 0)"}) {
    EXPECT_NE(page.find("zerohop_otlp_spans_dropped_total" + identity + line + "\n"), page.npos)
        << page;
  }
}

}  // namespace
}  // namespace zerohop

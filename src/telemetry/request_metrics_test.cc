#include "telemetry/request_metrics.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "telemetry/metrics_test_kit.h"

namespace zerohop {
namespace {

using std::chrono::seconds;
using LabelList = std::vector<std::pair<std::string, std::string>>;

struct Page {
  VirtualClock clock;
  MetricsRegistry registry{{"i", "p"}};
  RequestMetrics requests;

  explicit Page(std::size_t series_max = 200) : requests(registry, clock, series_max) {
    clock.advance(seconds(1'000));
  }

  void end(std::string_view channel, bool ok, std::uint64_t tokens = 10) {
    const LabelList labels{{"channel", std::string(channel)}, {"intent", "refund"}};
    FinishedRequest request;
    request.tenant = "acme";
    request.status = ok ? 200 : 500;
    request.ok = ok;
    request.output_tokens = tokens;
    request.labels = labels;
    requests.count(request);
  }
  std::string value(const std::string& name, const std::string& labels) const {
    return value_of(registry, name, labels);
  }
};

TEST(RequestMetrics, CountsByTenantAndClassOfStatus) {
  Page page;
  page.end("web", true);
  page.end("web", false);
  EXPECT_EQ(page.value("zerohop_tenant_requests_total", "tenant=\"acme\",status=\"2xx\""), "1");
  EXPECT_EQ(page.value("zerohop_tenant_requests_total", "tenant=\"acme\",status=\"5xx\""), "1");
  EXPECT_EQ(page.value("zerohop_tenant_tokens_total", "tenant=\"acme\",kind=\"output\""), "20");
}

TEST(RequestMetrics, KeepsRatesOfTheLastFiveMinutes) {
  Page page;
  page.end("web", true, 10);
  page.end("web", false, 99);
  page.end("app", true, 30);
  EXPECT_EQ(page.value("chat_completion_success_rate", "channel=\"web\""), "0.5");
  EXPECT_EQ(page.value("chat_completion_success_rate", "channel=\"app\""), "1");
  EXPECT_EQ(page.value("avg_tokens_per_response", "intent=\"refund\""), "20");
  page.clock.advance(seconds(400));
  EXPECT_EQ(page.registry.prometheus_text().find("chat_completion_success_rate{"),
            std::string::npos);
  page.end("web", true);
  EXPECT_EQ(page.value("chat_completion_success_rate", "channel=\"web\""), "1");
}

TEST(RequestMetrics, TakesLabelValuesBeyondTheCapTogether) {
  Page page(10);
  for (int i = 0; i < 50; ++i) page.end("channel " + std::to_string(i), i >= 9);
  const std::string text = page.registry.prometheus_text();
  std::size_t lines = 0;
  for (auto at = text.find("\nchat_completion_success_rate{"); at != text.npos;
       at = text.find("\nchat_completion_success_rate{", at + 1)) {
    ++lines;
  }
  EXPECT_EQ(lines, 10u);
  EXPECT_EQ(page.value("chat_completion_success_rate", "channel=\"other\""), "1");
}

TEST(RequestMetrics, AddsUpToolResultsByTool) {
  Page page;
  using Outcome = RequestMetrics::ToolOutcome;
  page.requests.count_tool_result("search", Outcome::kOk);
  page.requests.count_tool_result("search", Outcome::kOk);
  page.requests.count_tool_result("search", Outcome::kOk);
  page.requests.count_tool_result("search", Outcome::kError);
  EXPECT_EQ(page.value("tool_call_success_rate", "tool=\"search\""), "0.75");
}

}  // namespace
}  // namespace zerohop

#include "app/otlp_metric_text.h"

#include <gtest/gtest.h>

#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "telemetry/metrics.h"
#include "telemetry/metrics_test_kit.h"

namespace zerohop {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

constexpr std::array kTable{
    MetricSpec{"a_total", MetricKind::kCounter, MetricUnit::kTokens, {"kind"}, "Counts \"a\"."},
    MetricSpec{"b", MetricKind::kGauge, MetricUnit::kNone, {}, "Is b."},
    MetricSpec{"c_ms", MetricKind::kHistogram, MetricUnit::kMilliseconds, {"x", "y"}, "Times c."},
    MetricSpec{"d_seconds", MetricKind::kHistogram, MetricUnit::kSeconds, {}, "Times d."},
    MetricSpec{"e", MetricKind::kGauge, MetricUnit::kRatio, {}, "Is nothing now."},
    MetricSpec{"f_total", MetricKind::kCounter, MetricUnit::kNone, {}, "Has no series."},
};

const otlp::Resource kSender{"llm", "1.2.3", "cpu-1", "cpu", {}, {}};
const MetricTimes kTimes{WallTime(std::chrono::seconds(100)), WallTime(std::chrono::seconds(160))};

json::array metrics_of(const MetricsRegistry& registry) {
  const std::string text = otlp_metric_text(registry, kTimes, kSender);
  return json::parse(text).at_pointer("/resourceMetrics/0/scopeMetrics/0/metrics").as_array();
}

TEST(OtlpMetricText, IsTheJsonFormOfACounterAndAGauge) {
  MetricsRegistry registry({"cpu-1", "cpu"}, kTable);
  registry.counter("a_total", {"x\n"}).add(9'007'199'254'740'993);
  registry.gauge("b").set(-0.5);
  EXPECT_EQ(otlp_metric_text(registry, kTimes, kSender),
            R"({"resourceMetrics":[{"resource":{"attributes":[)"
            R"({"key":"service.name","value":{"stringValue":"llm"}},)"
            R"({"key":"service.version","value":{"stringValue":"1.2.3"}},)"
            R"({"key":"service.instance.id","value":{"stringValue":"cpu-1"}},)"
            R"({"key":"instance_id","value":{"stringValue":"cpu-1"}},)"
            R"({"key":"pool","value":{"stringValue":"cpu"}}]},)"
            R"("scopeMetrics":[{"scope":{"name":"zerohop","version":"1.2.3"},"metrics":[)"
            R"({"name":"a_total","description":"Counts \"a\".","unit":"{token}",)"
            R"("sum":{"dataPoints":[{"attributes":[)"
            R"({"key":"kind","value":{"stringValue":"x\n"}}],)"
            R"("startTimeUnixNano":"100000000000","timeUnixNano":"160000000000",)"
            R"("asInt":"9007199254740993"}],"aggregationTemporality":2,"isMonotonic":true}},)"
            R"({"name":"b","description":"Is b.","gauge":{"dataPoints":[{"attributes":[],)"
            R"("timeUnixNano":"160000000000","asDouble":-0.5}]}}]}]}]})");
}

TEST(OtlpMetricText, HistogramsHaveTheirBoundsInTheUnitOfTheirName) {
  MetricsRegistry registry({"cpu-1", "cpu"}, kTable);
  for (const auto& [name, scale] : {std::pair{"c_ms", 1'000.0}, {"d_seconds", 1.0}}) {
    const Histogram histogram =
        scale > 1 ? registry.histogram("c_ms", {"p", "q"}) : registry.histogram("d_seconds");
    Histogram observed = histogram;
    observed.observe(milliseconds(1));  // an edge belongs to the bucket below it
    observed.observe(milliseconds(4));
    observed.observe(std::chrono::minutes(2));
    const json::array metrics = metrics_of(registry);
    const json::value& metric = metrics.back();
    EXPECT_EQ(metric.at("name").as_string(), name);
    EXPECT_EQ(metric.at_pointer("/histogram/aggregationTemporality").as_int64(), 2);
    const json::value& point = metric.at_pointer("/histogram/dataPoints/0");
    EXPECT_EQ(point.at("count").as_string(), "3");
    EXPECT_DOUBLE_EQ(point.at("sum").to_number<double>(), 120.005 * scale);
    const json::array& counts = point.at("bucketCounts").as_array();
    const json::array& bounds = point.at("explicitBounds").as_array();
    ASSERT_EQ(bounds.size(), kHistogramBounds.size());
    ASSERT_EQ(counts.size(), bounds.size() + 1);
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      EXPECT_DOUBLE_EQ(bounds[i].to_number<double>(), to_seconds(kHistogramBounds[i]) * scale);
    }
    const std::set<std::size_t> filled{0, 3, counts.size() - 1};
    for (std::size_t i = 0; i < counts.size(); ++i) {
      EXPECT_EQ(counts[i].as_string(), filled.contains(i) ? "1" : "0") << i;
    }
  }
}

TEST(OtlpMetricText, LeavesOutWhatHasNoValueNow) {
  MetricsRegistry registry({"cpu-1", "cpu"}, kTable);
  registry.gauge("e").set(std::numeric_limits<double>::quiet_NaN());
  registry.gauge("b").set(std::numeric_limits<double>::infinity());
  EXPECT_TRUE(metrics_of(registry).empty());
}

TEST(OtlpMetricText, HasEveryFamilyThatThePageHas) {
  MetricsRegistry registry({"cpu-1", "cpu"});
  Metrics metrics(registry);
  metrics.count_http_request("/v1/messages", 200);
  metrics.set_build_info("1", "2");
  std::set<std::string> told;
  for (const json::value& metric : metrics_of(registry)) {
    EXPECT_TRUE(told.insert(std::string(metric.at("name").as_string())).second);
  }
  std::set<std::string> shown;
  for (const auto& [family, lines] : families_of(registry)) shown.insert(family);
  EXPECT_EQ(told, shown);
  EXPECT_GT(told.size(), 3u);
}

}  // namespace
}  // namespace zerohop

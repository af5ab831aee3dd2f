#include "telemetry/registry.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "telemetry/metrics_test_kit.h"
#include "telemetry/prometheus_text.h"

namespace zerohop {
namespace {

constexpr std::array kSmallTable{
    MetricSpec{"test_requests_total",
               MetricKind::kCounter,
               MetricUnit::kNone,
               {"route", "status"},
               "Answers, with a \\ and\na line break."},
    MetricSpec{"test_load", MetricKind::kGauge, MetricUnit::kRatio, {}, "Load."},
    MetricSpec{"test_wait_seconds", MetricKind::kHistogram, MetricUnit::kSeconds, {}, "Waits."},
    MetricSpec{"test_work_ms", MetricKind::kHistogram, MetricUnit::kMilliseconds, {}, "Works."},
};

const MetricsIdentity kIdentity{"cpu-00000001", "cpu"};

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(MetricsRegistry, WritesCountersAndGaugesExactly) {
  MetricsRegistry registry(kIdentity, kSmallTable);
  registry.counter("test_requests_total", {"/v1/messages", "200"}).add(3);
  registry.counter("test_requests_total", {"a\"b\\c\nd", "404"}).add();
  registry.gauge("test_load").set(0.25);
  EXPECT_EQ(
      registry.prometheus_text(),
      "# HELP test_requests_total Answers, with a \\\\ and\\na line break.\n"
      "# TYPE test_requests_total counter\n"
      "test_requests_total{instance_id=\"cpu-00000001\",pool=\"cpu\",route=\"/v1/messages\","
      "status=\"200\"} 3\n"
      "test_requests_total{instance_id=\"cpu-00000001\",pool=\"cpu\",route=\"a\\\"b\\\\c\\nd\","
      "status=\"404\"} 1\n"
      "# HELP test_load Load.\n"
      "# TYPE test_load gauge\n"
      "test_load{instance_id=\"cpu-00000001\",pool=\"cpu\"} 0.25\n");
}

constexpr std::array kTenantTable{
    MetricSpec{
        "test_tenant_total", MetricKind::kCounter, MetricUnit::kNone, {"kind", "tenant"}, "."},
    MetricSpec{"test_rate", MetricKind::kGauge, MetricUnit::kRatio, {"channel"}, "."},
    MetricSpec{"test_steps_total", MetricKind::kCounter, MetricUnit::kNone, {}, "."},
};

TEST(MetricsRegistry, ShowsATenantItsOwnSeriesAndTheInstance) {
  MetricsRegistry registry(kIdentity, kTenantTable, 4);
  for (const char* tenant : {"acme", "acme2", "other-tenant", "one-too-many"}) {
    registry.counter("test_tenant_total", {"input", tenant}).add();
  }
  registry.gauge("test_rate", {"acme"}).set(1);
  registry.counter("test_steps_total").add(5);
  const std::string own = registry.render({"acme"});
  EXPECT_NE(own.find("kind=\"input\",tenant=\"acme\"} 1"), own.npos) << own;
  EXPECT_NE(own.find("test_steps_total"), own.npos);
  for (const char* hidden : {"acme2", "other", "one-too-many", "test_rate"}) {
    EXPECT_EQ(own.find(hidden), own.npos) << hidden;
  }
  const std::string nobody = registry.render({"newcomer"});
  EXPECT_EQ(nobody.find("test_tenant_total"), nobody.npos) << "no head without a series";
  const std::string all = registry.render();
  for (const char* shown : {"acme2", "tenant=\"other\"", "test_rate"}) {
    EXPECT_NE(all.find(shown), all.npos) << shown;
  }
}

TEST(MetricsRegistry, WritesHistogramsCumulatively) {
  MetricsRegistry registry({"i", "p"}, kSmallTable);
  Histogram wait = registry.histogram("test_wait_seconds");
  wait.observe(std::chrono::milliseconds{1});
  wait.observe(std::chrono::microseconds{1500});
  wait.observe(std::chrono::seconds{61});
  const std::string text = registry.prometheus_text();
  const std::string expected_begin =
      "# HELP test_wait_seconds Waits.\n"
      "# TYPE test_wait_seconds histogram\n"
      "test_wait_seconds_bucket{instance_id=\"i\",pool=\"p\",le=\"0.001\"} 1\n"
      "test_wait_seconds_bucket{instance_id=\"i\",pool=\"p\",le=\"0.002\"} 2\n"
      "test_wait_seconds_bucket{instance_id=\"i\",pool=\"p\",le=\"0.003\"} 2\n";
  const std::string expected_end =
      "test_wait_seconds_bucket{instance_id=\"i\",pool=\"p\",le=\"60\"} 2\n"
      "test_wait_seconds_bucket{instance_id=\"i\",pool=\"p\",le=\"+Inf\"} 3\n"
      "test_wait_seconds_sum{instance_id=\"i\",pool=\"p\"} 61.0025\n"
      "test_wait_seconds_count{instance_id=\"i\",pool=\"p\"} 3\n";
  EXPECT_EQ(text.substr(0, expected_begin.size()), expected_begin);
  ASSERT_GE(text.size(), expected_end.size());
  EXPECT_EQ(text.substr(text.size() - expected_end.size()), expected_end);
  EXPECT_EQ(count_of(text, "_bucket{"), kHistogramBounds.size() + 1);
}

TEST(MetricsRegistry, WritesMillisecondHistogramsInMilliseconds) {
  MetricsRegistry registry({"i", "p"}, kSmallTable);
  registry.histogram("test_work_ms").observe(std::chrono::microseconds{2500});
  const std::string text = registry.prometheus_text();
  EXPECT_NE(text.find("le=\"2\"} 0\n"), text.npos);
  EXPECT_NE(text.find("le=\"3\"} 1\n"), text.npos);
  EXPECT_NE(text.find("le=\"60000\"} 1\n"), text.npos);
  EXPECT_NE(text.find("test_work_ms_sum{instance_id=\"i\",pool=\"p\"} 2.5\n"), text.npos);
}

TEST(MetricsRegistry, LeavesOutFamiliesWithoutASeries) {
  MetricsRegistry registry(kIdentity, kSmallTable);
  EXPECT_EQ(registry.prometheus_text(), "");
}

TEST(MetricsRegistry, LeavesOutGaugesThatHaveNoValueNow) {
  MetricsRegistry registry(kIdentity, kSmallTable);
  Gauge load = registry.gauge("test_load");
  load.set(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(registry.prometheus_text(), "");
  load.set(1);
  EXPECT_NE(registry.prometheus_text().find("test_load{"), std::string::npos);
}

TEST(MetricsRegistry, KeepsValuesApartThatLookAlikeSideBySide) {
  MetricsRegistry registry(kIdentity, kSmallTable);
  registry.counter("test_requests_total", {"a", "bc"}).add();
  EXPECT_EQ(registry.counter("test_requests_total", {"ab", "c"}).value(), 0u);
  registry.counter("test_requests_total", {"1:", ""}).add();
  EXPECT_EQ(registry.counter("test_requests_total", {"", "1:"}).value(), 0u);
}

TEST(MetricsRegistry, TakesAsManySeriesAsItIsTold) {
  MetricsRegistry registry(kIdentity, kSmallTable, 1'000);
  for (int i = 0; i < 2'000; ++i) {
    registry.counter("test_requests_total", {std::to_string(i), "200"}).add();
  }
  const std::string text = registry.prometheus_text();
  EXPECT_EQ(count_of(text, "\ntest_requests_total{"), 1'000u);
  EXPECT_NE(text.find("route=\"other\",status=\"other\"} 1001\n"), text.npos);
}

TEST(MetricsRegistry, RendersWithoutRefreshing) {
  MetricsRegistry registry(kIdentity, kSmallTable);
  int refreshes = 0;
  registry.gauge("test_load").set(3);
  registry.at_scrape([&refreshes] { ++refreshes; });
  EXPECT_NE(registry.render().find("} 3\n"), std::string::npos);
  EXPECT_EQ(refreshes, 0);
}

TEST(MetricsRegistry, GivesTheSameSeriesForTheSameLabels) {
  MetricsRegistry registry(kIdentity, kSmallTable);
  registry.counter("test_requests_total", {"/a", "200"}).add();
  registry.counter("test_requests_total", {"/a", "200"}).add();
  registry.counter("test_requests_total", {"/a", "500"}).add();
  EXPECT_EQ(registry.counter("test_requests_total", {"/a", "200"}).value(), 2u);
}

TEST(MetricsRegistry, CountsSeriesBeyondTheCapTogether) {
  MetricsRegistry registry(kIdentity, kSmallTable);
  const std::size_t wanted = MetricsRegistry::kSeriesPerFamilyMax + 50;
  for (std::size_t i = 0; i < wanted; ++i) {
    registry.counter("test_requests_total", {"/" + std::to_string(i), "200"}).add();
  }
  const std::string text = registry.prometheus_text();
  EXPECT_EQ(count_of(text, "\ntest_requests_total{"), MetricsRegistry::kSeriesPerFamilyMax);
  EXPECT_NE(text.find("route=\"other\",status=\"other\"} 51\n"), text.npos);
  // Series from before the cap keep counting under their own name.
  registry.counter("test_requests_total", {"/0", "200"}).add();
  EXPECT_EQ(registry.counter("test_requests_total", {"/0", "200"}).value(), 2u);
}

TEST(MetricsRegistry, WhatIsRetiredLeavesThePageAndComesBackAsItIs) {
  MetricsRegistry registry(kIdentity, kSmallTable);
  registry.retire("test_requests_total", {"/a", "200"});  // there is none yet
  Counter held = registry.counter("test_requests_total", {"/a", "200"});
  registry.counter("test_requests_total", {"/b", "200"}).add(5);
  held.add();
  for (int twice = 0; twice < 2; ++twice) registry.retire("test_requests_total", {"/a", "200"});
  held.add();  // a request that began before
  const std::string page = registry.render();
  EXPECT_EQ(value_of(page, "test_requests_total", R"(route="/a",status="200")"), "missing");
  EXPECT_EQ(value_of(page, "test_requests_total", R"(route="/b",status="200")"), "5");
  registry.counter("test_requests_total", {"/a", "200"}).add();
  EXPECT_EQ(value_of(registry, "test_requests_total", R"(route="/a",status="200")"), "3");
}

TEST(MetricsRegistry, WhatIsRetiredMakesRoom) {
  MetricsRegistry registry(kIdentity, kSmallTable, 3);
  const std::string name = "test_requests_total";
  for (int i = 0; i < 100; ++i) {
    const std::string route = "/" + std::to_string(i);
    registry.counter(name, {route, "200"}).add();
    EXPECT_EQ(value_of(registry, name, "route=\"" + route + "\",status=\"200\""), "1");
    registry.retire(name, {route, "200"});
  }
  EXPECT_EQ(registry.prometheus_text(), "") << "no head without a series";
  // One that comes back takes a place as a new one does.
  for (const char* route : {"/new", "/0", "/1"}) registry.counter(name, {route, "200"}).add();
  EXPECT_EQ(value_of(registry, name, R"(route="/0",status="200")"), "2");
  EXPECT_EQ(value_of(registry, name, R"(route="/1",status="200")"), "missing");
  EXPECT_EQ(value_of(registry, name, R"(route="other",status="other")"), "1");
}

TEST(MetricsRegistry, RefreshesBeforeEachScrape) {
  MetricsRegistry registry(kIdentity, kSmallTable);
  int scrapes = 0;
  Gauge load = registry.gauge("test_load");
  registry.at_scrape([&scrapes, load]() mutable { load.set(++scrapes); });
  EXPECT_NE(registry.prometheus_text().find("pool=\"cpu\"} 1\n"), std::string::npos);
  EXPECT_NE(registry.prometheus_text().find("pool=\"cpu\"} 2\n"), std::string::npos);
}

TEST(MetricsRegistry, MayBeScrapedWhileSeriesAreAddedAndCounted) {
  MetricsRegistry registry(kIdentity, kSmallTable);
  std::thread writer([&registry] {
    for (int i = 0; i < 2'000; ++i) {
      registry.counter("test_requests_total", {std::to_string(i % 100), "200"}).add();
    }
  });
  for (int i = 0; i < 50; ++i) registry.prometheus_text();
  writer.join();
  std::uint64_t total = 0;
  for (int i = 0; i < 100; ++i) {
    total += registry.counter("test_requests_total", {std::to_string(i), "200"}).value();
  }
  EXPECT_EQ(total, 2'000u);
}

TEST(MetricsRegistryDeathTest, CrashesOnANameThatTheTableDoesNotHold) {
  MetricsRegistry registry(kIdentity, kSmallTable);
  EXPECT_DEATH(registry.counter("test_unknown_total"), "places_.end");
  EXPECT_DEATH(registry.gauge("test_requests_total", {"a", "b"}), "kind");
  EXPECT_DEATH(registry.counter("test_requests_total", {"only one"}), "labels");
}

TEST(MetricsRegistry, EachFamilyGivesWhatThePageSays) {
  MetricsRegistry registry(kIdentity, kSmallTable);
  registry.counter("test_requests_total", {"/v1/x", "200"}).add(3);
  registry.counter("test_requests_total", {"/v1/x", "500"}).add();
  std::vector<std::string> seen;
  registry.each_family([&seen](const MetricSpec& spec, std::span<const MetricPoint> points) {
    for (const MetricPoint& point : points) {
      ASSERT_EQ(point.label_values.size(), 2u);
      seen.push_back(std::string(spec.name) + " " + point.label_values[1] + " " +
                     std::to_string(point.total));
    }
  });
  EXPECT_EQ(seen,
            (std::vector<std::string>{"test_requests_total 200 3", "test_requests_total 500 1"}));
}

TEST(FormatNumber, IsShortAndExact) {
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_number(9007199254740991.0), "9007199254740991");
  EXPECT_EQ(format_number(-3), "-3");
  EXPECT_EQ(format_number(0.1), "0.1");
  EXPECT_EQ(format_number(1e300), "1e+300");
  EXPECT_EQ(format_number(std::numeric_limits<double>::quiet_NaN()), "NaN");
  EXPECT_EQ(format_number(std::numeric_limits<double>::infinity()), "+Inf");
  EXPECT_EQ(format_number(-std::numeric_limits<double>::infinity()), "-Inf");
}

TEST(AppendSample, ReplacesInvalidUtf8InLabelValues) {
  std::string out;
  const std::array labels{MetricLabel{"key", "a\xff"}};
  append_sample(out, "test_load", label_text(labels), 1);
  EXPECT_EQ(out, "test_load{key=\"a\xef\xbf\xbd\"} 1\n");
}

}  // namespace
}  // namespace zerohop

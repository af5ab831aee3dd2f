#include "telemetry/metric_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

namespace zerohop {
namespace {

bool is_metric_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return std::islower(static_cast<unsigned char>(c)) != 0 || c == '_' ||
           std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
}

TEST(MetricTable, HasUniqueWellFormedNames) {
  std::set<std::string_view> names;
  for (const MetricSpec& spec : metric_table()) {
    EXPECT_TRUE(is_metric_name(spec.name)) << spec.name;
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
    for (const std::string_view label : spec.labels()) {
      EXPECT_TRUE(is_metric_name(label)) << spec.name << " " << label;
      EXPECT_NE(label, "instance_id");
      EXPECT_NE(label, "pool");
      EXPECT_NE(label, "le");
    }
  }
}

TEST(MetricTable, NamesSayKindAndUnit) {
  for (const MetricSpec& spec : metric_table()) {
    // A name that client libraries export as well.
    const bool total = spec.name.ends_with("_total") || spec.name == "anthropic_direct_error_count";
    EXPECT_EQ(total, spec.kind == MetricKind::kCounter) << spec.name;
    const bool timed = spec.name.ends_with("_seconds") || spec.name.ends_with("_ms");
    const bool window = spec.name.ends_with("_max_seconds") || spec.name.ends_with("_p95_ms");
    EXPECT_EQ(timed && !window, spec.kind == MetricKind::kHistogram) << spec.name;
    EXPECT_TRUE(!window || spec.kind == MetricKind::kGauge) << spec.name;
    if (spec.unit == MetricUnit::kSeconds) {
      EXPECT_TRUE(spec.name.ends_with("_seconds")) << spec.name;
    }
    if (spec.unit == MetricUnit::kMilliseconds) {
      EXPECT_TRUE(spec.name.ends_with("_ms")) << spec.name;
    }
  }
}

TEST(MetricTable, HelpIsASentenceThatFitsAMarkdownCell) {
  for (const MetricSpec& spec : metric_table()) {
    EXPECT_TRUE(spec.help.ends_with(".")) << spec.name;
    EXPECT_EQ(spec.help.find_first_of("|\n"), std::string_view::npos) << spec.name;
  }
}

// A label that is not here may tell one tenant about another: decide, and if so put it where
// MetricsView looks.
TEST(MetricTable, EachLabelTellsOfTheInstanceOrIsHiddenFromOtherTenants) {
  std::set<std::string_view> known{
      "applied", "cache",  "cause",  "class", "direction", "error_type", "event",   "gateway",
      "keyword", "kind",   "label",  "model", "libllama",  "objective",  "outcome", "phase",
      "profile", "reason", "result", "route", "requested", "rule",       "rung",    "signal",
      "stage",   "state",  "status", "tier",  "version"};
  known.insert(kTenantLabel);
  known.insert(kClientLabels.begin(), kClientLabels.end());
  for (const MetricSpec& spec : metric_table()) {
    for (const std::string_view label : spec.labels()) {
      EXPECT_TRUE(known.contains(label)) << spec.name << " " << label;
    }
  }
}

TEST(HistogramBounds, AscendFromOneMillisecondToOneMinute) {
  EXPECT_EQ(kHistogramBounds.front(), std::chrono::milliseconds{1});
  EXPECT_EQ(kHistogramBounds.back(), std::chrono::seconds{60});
  EXPECT_TRUE(std::ranges::is_sorted(kHistogramBounds));
  EXPECT_EQ(std::ranges::adjacent_find(kHistogramBounds), kHistogramBounds.end());
}

}  // namespace
}  // namespace zerohop

// For tests: a page of /metrics in parts, and what an event changes of it.
//
//   const MetricsPage before = families_of(registry);
//   happen();
//   EXPECT_EQ(moved(before, families_of(registry)), std::set<std::string>{"zerohop_steps_total"});
//   EXPECT_EQ(value_of(registry, "zerohop_steps_total", R"(kind="a")"), "1");
//
// Labels are those of the family, as they stand on the page, without the identity in front of them.
// Pure functions; any thread.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "telemetry/registry.h"

namespace zerohop {

/// The lines of each family that has any.
using MetricsPage = std::map<std::string, std::string>;

inline MetricsPage families_of(std::string_view page) {
  constexpr std::string_view kType = "# TYPE ";
  MetricsPage families;
  std::string family;
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t end = std::min(page.find('\n', at), page.size());
    const std::string_view line = page.substr(at, end - at);
    if (line.starts_with(kType)) {
      const std::string_view name = line.substr(kType.size());
      family = name.substr(0, name.find(' '));
    } else if (!line.starts_with('#')) {
      families[family].append(line).push_back('\n');
    }
    at = end + 1;
  }
  return families;
}
inline MetricsPage families_of(const MetricsRegistry& registry) {
  return families_of(registry.prometheus_text());
}

/// Families that came, went or have other lines.
inline std::set<std::string> moved(const MetricsPage& before, const MetricsPage& after) {
  std::set<std::string> families;
  for (const auto& [family, lines] : after) {
    const auto old = before.find(family);
    if (old == before.end() || old->second != lines) families.insert(family);
  }
  for (const auto& [family, lines] : before) {
    if (!after.contains(family)) families.insert(family);
  }
  return families;
}

/// What the page shows for the series with exactly these labels; "missing": there is none.
inline std::string value_of(std::string_view page, std::string_view name,
                            std::string_view labels = {}) {
  constexpr std::string_view kPool = ",pool=\"";
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t end = std::min(page.find('\n', at), page.size());
    std::string_view line = page.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(name) || !line.substr(name.size()).starts_with("{instance_id=\"")) {
      continue;
    }
    line.remove_prefix(line.find(kPool) + kPool.size());
    line.remove_prefix(line.find('"') + 1);
    if (!labels.empty()) {
      if (!line.starts_with(',')) continue;
      line.remove_prefix(1);
    }
    if (!line.starts_with(labels)) continue;
    line.remove_prefix(labels.size());
    if (line.starts_with("} ")) return std::string(line.substr(2));
  }
  return "missing";
}
inline std::string value_of(const MetricsRegistry& registry, std::string_view name,
                            std::string_view labels = {}) {
  return value_of(registry.prometheus_text(), name, labels);
}

}  // namespace zerohop

// The metric table: every family that the server exports, as data. /metrics takes its HELP and TYPE
// lines from it, docs/METRICS.md is rendered from it (metrics_markdown.h), and a handle can only be
// had for a family that stands in it (registry.h).
//
// A family is listed when something in the server feeds it, not before; the two exceptions (the
// policy's) say in their help that they are absent. Its rows stand in metric_table_*.cc. Immutable;
// any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/clock.h"

namespace zerohop {

enum class MetricKind : std::uint8_t {
  kCounter,    ///< only grows; the name ends in _total (but anthropic_direct_error_count)
  kGauge,      ///< goes up and down
  kHistogram,  ///< durations in the buckets of kHistogramBounds
};

enum class MetricUnit : std::uint8_t {
  kNone,  ///< plain counts
  kSeconds,
  kMilliseconds,
  kTokens,
  kCells,
  kBytes,
  kRatio,    ///< 0 to 1
  kPercent,  ///< 0 to 100
  kTokensPerSecond,
};

struct MetricSpec {
  /// Most labels of one family, instance_id and pool not counted.
  static constexpr std::size_t kLabelsMax = 3;

  std::string_view name;
  MetricKind kind = MetricKind::kCounter;
  MetricUnit unit = MetricUnit::kNone;
  std::array<std::string_view, kLabelsMax> label_names{};  ///< unused ones are empty, at the end
  std::string_view help;

  std::span<const std::string_view> labels() const;
};

/// The label whose values are names of tenants.
inline constexpr std::string_view kTenantLabel = "tenant";
/// Labels whose values the clients of all tenants choose.
inline constexpr std::array<std::string_view, 4> kClientLabels{"value", "channel", "intent",
                                                               "tool"};

/// Upper edges of the histogram buckets, ascending; what is slower falls into +Inf. Averages hide
/// stalls, so the edges are dense (a factor of 1.3 to 2) from one decode step to a minute of
/// queueing.
inline constexpr std::array<Duration, 28> kHistogramBounds{
    std::chrono::milliseconds{1},      std::chrono::milliseconds{2},
    std::chrono::milliseconds{3},      std::chrono::milliseconds{5},
    std::chrono::milliseconds{7},      std::chrono::milliseconds{10},
    std::chrono::milliseconds{15},     std::chrono::milliseconds{20},
    std::chrono::milliseconds{30},     std::chrono::milliseconds{50},
    std::chrono::milliseconds{70},     std::chrono::milliseconds{100},
    std::chrono::milliseconds{150},    std::chrono::milliseconds{200},
    std::chrono::milliseconds{300},    std::chrono::milliseconds{500},
    std::chrono::milliseconds{700},    std::chrono::milliseconds{1'000},
    std::chrono::milliseconds{1'500},  std::chrono::milliseconds{2'000},
    std::chrono::milliseconds{3'000},  std::chrono::milliseconds{5'000},
    std::chrono::milliseconds{7'000},  std::chrono::milliseconds{10'000},
    std::chrono::milliseconds{15'000}, std::chrono::milliseconds{20'000},
    std::chrono::milliseconds{30'000}, std::chrono::milliseconds{60'000},
};

/// All families, in the order in which /metrics prints them.
std::span<const MetricSpec> metric_table();

/// "counter", "gauge" or "histogram", as in a TYPE line.
std::string_view metric_kind_name(MetricKind kind);

/// For people: "seconds", "tokens/s"; "–" when there is none.
std::string_view metric_unit_name(MetricUnit unit);

}  // namespace zerohop

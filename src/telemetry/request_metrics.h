// What is counted when a model request is over: for its tenant, by its status, by the labels of its
// metadata. I/O thread; a scrape from any. Owned by Metrics.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "telemetry/registry.h"
#include "telemetry/sliding_window.h"

namespace zerohop {

/// The numbers of one model request at its end. Views are valid during the call only.
struct FinishedRequest {
  std::string_view tenant;
  int status = 0;   ///< 0: nothing was answered
  bool ok = false;  ///< it was answered to its end
  /// Whether it says anything about the server: not where its client went away or was wrong.
  bool counts = true;
  std::string_view error_type;  ///< of the Messages API; empty: no error
  Duration total{};
  std::span<const std::pair<std::string_view, Duration>> states;  ///< those that it was in
  std::uint64_t input_tokens = 0;                                 ///< of its prompt, computed
  std::uint64_t cached_tokens = 0;
  std::uint64_t output_tokens = 0;
  std::span<const std::pair<std::string, std::string>> labels;
};

/// Gauges over the last 5 minutes, one for each value of a label that clients send.
class WindowedGauges {
 public:
  /// `family` has one label. Values beyond `series_max` are taken together as "other".
  WindowedGauges(MetricsRegistry& registry, std::string_view family, std::size_t series_max)
      : registry_(registry), family_(family), series_max_(series_max) {}

  void observe(std::string_view label, double value, TimePoint now);
  void publish(TimePoint now);

 private:
  struct Series {
    SlidingMean window;
    Gauge gauge;
  };
  Series& series_of(std::string_view label);

  MetricsRegistry& registry_;
  const std::string_view family_;
  const std::size_t series_max_;
  std::unordered_map<std::string, std::unique_ptr<Series>> series_;
};

class RequestMetrics {
 public:
  RequestMetrics(MetricsRegistry& registry, const Clock& clock,
                 std::size_t series_max = MetricsRegistry::kSeriesPerFamilyMax);
  RequestMetrics(const RequestMetrics&) = delete;
  RequestMetrics& operator=(const RequestMetrics&) = delete;

  void count(const FinishedRequest& request);
  /// What a request cost its tenant.
  void count_cost(std::string_view tenant, std::uint64_t microdollars);
  /// A client sent the result of a call of `tool`; `ok`: it was no error.
  enum class ToolOutcome : std::uint8_t { kOk, kError };
  void count_tool_result(std::string_view tool, ToolOutcome outcome);

 private:
  void count_tenant(const FinishedRequest& request);
  void count_labels(const FinishedRequest& request);

  MetricsRegistry& registry_;
  const Clock& clock_;
  WindowedGauges success_rates_, answer_lengths_, tool_rates_;
};

}  // namespace zerohop

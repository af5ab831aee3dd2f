#include "telemetry/otlp_metrics.h"

#include <string_view>

namespace zerohop {
namespace {

constexpr std::array<std::string_view, 2> kSignals{"traces", "metrics"};
constexpr std::array<std::string_view, 5> kResults{"ok", "partial", "refused", "retry",
                                                   "unreachable"};
constexpr std::array<std::string_view, 4> kLosses{"queue_full", "refused", "given_up", "shutdown"};

}  // namespace

std::string_view otlp_signal_name(OtlpSignal signal) {
  return kSignals[static_cast<std::size_t>(signal)];
}

std::string_view otlp_result_name(OtlpResult result) {
  return kResults[static_cast<std::size_t>(result)];
}

OtlpMetrics::OtlpMetrics(MetricsRegistry& registry) {
  for (std::size_t signal = 0; signal < kSignals.size(); ++signal) {
    for (std::size_t result = 0; result < kResults.size(); ++result) {
      exports_[signal][result] =
          registry.counter("zerohop_otlp_exports_total", {kSignals[signal], kResults[result]});
    }
  }
  for (std::size_t cause = 0; cause < kLosses.size(); ++cause) {
    lost_[cause] = registry.counter("zerohop_otlp_spans_dropped_total", {kLosses[cause]});
  }
}

}  // namespace zerohop

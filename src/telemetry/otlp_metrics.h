// What became of what was to be exported to a collector. One object, made where something is; any
// thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "telemetry/registry.h"

namespace zerohop {

enum class OtlpSignal : std::uint8_t { kTraces, kMetrics };

/// How one attempt to send something ended.
enum class OtlpResult : std::uint8_t {
  kOk,
  kPartial,      ///< taken, but for a part that the collector refused
  kRefused,      ///< with a status that another attempt will not change
  kRetry,        ///< 429, 502, 503 or 504: it shall be tried again
  kUnreachable,  ///< no answer, none in time, or none that is HTTP
};

/// Why a span never reached the collector.
enum class SpanLoss : std::uint8_t {
  kQueueFull,  ///< newer ones took its place
  kRefused,    ///< by the collector
  kGivenUp,    ///< it was tried for too long
  kShutdown,   ///< the process ended first
};

std::string_view otlp_signal_name(OtlpSignal signal);
std::string_view otlp_result_name(OtlpResult result);

class OtlpMetrics {
 public:
  /// `registry` outlives this. All series exist from the start.
  explicit OtlpMetrics(MetricsRegistry& registry);

  void count_export(OtlpSignal signal, OtlpResult result) {
    exports_[static_cast<std::size_t>(signal)][static_cast<std::size_t>(result)].add();
  }
  void count_lost(SpanLoss cause, std::uint64_t spans) {
    lost_[static_cast<std::size_t>(cause)].add(spans);
  }

 private:
  std::array<std::array<Counter, 5>, 2> exports_;
  std::array<Counter, 4> lost_;
};

}  // namespace zerohop

#include "app/otlp_metric_text.h"

#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include "telemetry/prometheus_text.h"

namespace zerohop {
namespace {

constexpr std::string_view kCumulative = "\"aggregationTemporality\":2";

// The codes of the Unified Code for Units of Measure, as OpenTelemetry asks for.
std::string_view unit_code(MetricUnit unit) {
  switch (unit) {
    case MetricUnit::kNone: break;
    case MetricUnit::kSeconds: return "s";
    case MetricUnit::kMilliseconds: return "ms";
    case MetricUnit::kTokens: return "{token}";
    case MetricUnit::kCells: return "{cell}";
    case MetricUnit::kBytes: return "By";
    case MetricUnit::kRatio: return "1";
    case MetricUnit::kPercent: return "%";
    case MetricUnit::kTokensPerSecond: return "{token}/s";
  }
  return {};
}

double in_unit(Duration duration, MetricUnit unit) {
  return unit == MetricUnit::kMilliseconds ? to_milliseconds(duration) : to_seconds(duration);
}

std::uint64_t unix_nanoseconds(WallTime time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

class MetricText {
 public:
  MetricText(const MetricTimes& times, std::string& out)
      : started_(unix_nanoseconds(times.started)), now_(unix_nanoseconds(times.now)), out_(out) {}

  void family(const MetricSpec& spec, std::span<const MetricPoint> points) {
    if (spec.kind == MetricKind::kGauge && !has_value(points)) return;
    otlp::separate(out_);
    out_.append("{\"name\":\"").append(spec.name).push_back('"');
    otlp::text_member(out_, "description", spec.help);
    const std::string_view unit = unit_code(spec.unit);
    if (!unit.empty()) otlp::text_member(out_, "unit", unit);
    otlp::member(out_, data_name(spec.kind));
    out_.append("{\"dataPoints\":[");
    for (const MetricPoint& one : points) point(spec, one);
    out_.push_back(']');
    if (spec.kind != MetricKind::kGauge) out_.append(",").append(kCumulative);
    if (spec.kind == MetricKind::kCounter) out_.append(",\"isMonotonic\":true");
    out_.append("}}");
  }

 private:
  static std::string_view data_name(MetricKind kind) {
    return kind == MetricKind::kCounter ? "sum" : metric_kind_name(kind);
  }

  static bool has_value(std::span<const MetricPoint> points) {
    for (const MetricPoint& point : points) {
      if (std::isfinite(point.value)) return true;
    }
    return false;
  }

  void point(const MetricSpec& spec, const MetricPoint& point) {
    const bool gauge = spec.kind == MetricKind::kGauge;
    if (gauge && !std::isfinite(point.value)) return;
    otlp::separate(out_);
    out_.append("{\"attributes\":[");
    for (std::size_t i = 0; i < point.label_values.size(); ++i) {
      otlp::attribute(out_, spec.labels()[i], point.label_values[i]);
    }
    out_.push_back(']');
    if (!gauge) otlp::long_member(out_, "startTimeUnixNano", started_);
    otlp::long_member(out_, "timeUnixNano", now_);
    if (gauge) {
      otlp::member(out_, "asDouble");
      out_.append(format_number(point.value));
    } else if (spec.kind == MetricKind::kCounter) {
      otlp::long_member(out_, "asInt", point.total);
    } else {
      histogram(spec, *point.histogram);
    }
    out_.push_back('}');
  }

  void histogram(const MetricSpec& spec, const metric_cells::HistogramCell& cell) {
    std::string counts;
    std::uint64_t total = 0;
    for (const auto& bucket : cell.buckets) {
      const std::uint64_t count = bucket.load(std::memory_order_relaxed);
      total += count;
      counts += (counts.empty() ? "\"" : ",\"") + std::to_string(count) + "\"";
    }
    otlp::long_member(out_, "count", total);
    const Duration sum(cell.sum_nanoseconds.load(std::memory_order_relaxed));
    otlp::member(out_, "sum");
    out_.append(format_number(in_unit(sum, spec.unit)));
    otlp::member(out_, "bucketCounts");
    out_.append("[").append(counts).append("]");
    otlp::member(out_, "explicitBounds");
    out_.push_back('[');
    for (const Duration bound : kHistogramBounds) {
      otlp::separate(out_);
      out_.append(format_number(in_unit(bound, spec.unit)));
    }
    out_.push_back(']');
  }

  const std::uint64_t started_;
  const std::uint64_t now_;
  std::string& out_;
};

}  // namespace

std::string otlp_metric_text(const MetricsRegistry& registry, const MetricTimes& times,
                             const otlp::Resource& resource) {
  std::string out;
  otlp::begin_payload(out, "Metrics", resource);
  MetricText text(times, out);
  registry.each_family([&text](const MetricSpec& spec, std::span<const MetricPoint> points) {
    text.family(spec, points);
  });
  otlp::end_payload(out);
  return out;
}

}  // namespace zerohop

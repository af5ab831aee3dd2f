#include "telemetry/prometheus_text.h"

#include <charconv>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "base/utf8.h"

namespace zerohop {
namespace {

void append_label_value(std::string& out, std::string_view value) {
  for (const char c : utf8_replace_invalid(value)) {
    switch (c) {
      case '\\': out.append("\\\\"); break;
      case '"': out.append("\\\""); break;
      case '\n': out.append("\\n"); break;
      default: out.push_back(c);
    }
  }
}

void append_help(std::string& out, std::string_view help) {
  for (const char c : help) {
    switch (c) {
      case '\\': out.append("\\\\"); break;
      case '\n': out.append("\\n"); break;
      default: out.push_back(c);
    }
  }
}

double in_unit(Duration duration, MetricUnit unit) {
  const auto nanoseconds = static_cast<double>(duration.count());
  return unit == MetricUnit::kMilliseconds ? nanoseconds / 1e6 : nanoseconds / 1e9;
}

}  // namespace

std::string format_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char buffer[32];
  constexpr double kExactIntegers = 9007199254740992.0;  // 2^53
  const bool whole = std::trunc(value) == value && std::abs(value) < kExactIntegers;
  const std::to_chars_result end =
      whole ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<std::int64_t>(value))
            : std::to_chars(buffer, buffer + sizeof buffer, value);
  ZH_CHECK(end.ec == std::errc{});
  return {buffer, end.ptr};
}

void append_family_head(std::string& out, const MetricSpec& spec) {
  out.append("# HELP ").append(spec.name).push_back(' ');
  append_help(out, spec.help);
  out.append("\n# TYPE ").append(spec.name).push_back(' ');
  out.append(metric_kind_name(spec.kind)).push_back('\n');
}

void append_sample(std::string& out, std::string_view name, std::span<const MetricLabel> labels,
                   double value) {
  out.append(name);
  char separator = '{';
  for (const MetricLabel& label : labels) {
    out.push_back(separator);
    separator = ',';
    out.append(label.name).append("=\"");
    append_label_value(out, label.value);
    out.push_back('"');
  }
  if (!labels.empty()) out.push_back('}');
  out.push_back(' ');
  out.append(format_number(value)).push_back('\n');
}

void append_histogram(std::string& out, const MetricSpec& spec, std::span<const MetricLabel> labels,
                      const metric_cells::HistogramCell& cell) {
  const std::string bucket_name = std::string(spec.name) + "_bucket";
  std::vector<MetricLabel> with_edge(labels.begin(), labels.end());
  with_edge.push_back({"le", {}});
  std::uint64_t cumulated = 0;
  for (std::size_t i = 0; i < cell.buckets.size(); ++i) {
    cumulated += cell.buckets[i].load(std::memory_order_relaxed);
    const std::string edge = i < kHistogramBounds.size()
                                 ? format_number(in_unit(kHistogramBounds[i], spec.unit))
                                 : std::string("+Inf");
    with_edge.back().value = edge;
    append_sample(out, bucket_name, with_edge, static_cast<double>(cumulated));
  }
  const Duration sum(cell.sum_nanoseconds.load(std::memory_order_relaxed));
  append_sample(out, std::string(spec.name) + "_sum", labels, in_unit(sum, spec.unit));
  append_sample(out, std::string(spec.name) + "_count", labels, static_cast<double>(cumulated));
}

}  // namespace zerohop

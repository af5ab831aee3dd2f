#include "telemetry/prometheus_text.h"

#include <charconv>
#include <cmath>

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

void append_number(std::string& out, double value) {
  if (std::isnan(value)) {
    out.append("NaN");
  } else if (std::isinf(value)) {
    out.append(value > 0 ? "+Inf" : "-Inf");
  } else {
    char buffer[32];
    constexpr double kExactIntegers = 9007199254740992.0;  // 2^53
    const bool whole = std::trunc(value) == value && std::abs(value) < kExactIntegers;
    const std::to_chars_result end =
        whole ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<std::int64_t>(value))
              : std::to_chars(buffer, buffer + sizeof buffer, value);
    ZH_CHECK(end.ec == std::errc{});
    out.append(buffer, end.ptr);
  }
}

}  // namespace

std::string format_number(double value) {
  std::string out;
  append_number(out, value);
  return out;
}

void append_family_head(std::string& out, const MetricSpec& spec) {
  out.append("# HELP ").append(spec.name).push_back(' ');
  append_help(out, spec.help);
  out.append("\n# TYPE ").append(spec.name).push_back(' ');
  out.append(metric_kind_name(spec.kind)).push_back('\n');
}

std::string label_text(std::span<const MetricLabel> labels) {
  std::string out;
  for (const MetricLabel& label : labels) {
    if (!out.empty()) out.push_back(',');
    out.append(label.name).append("=\"");
    append_label_value(out, label.value);
    out.push_back('"');
  }
  return out;
}

void append_sample(std::string& out, std::string_view name, std::string_view labels, double value) {
  out.append(name);
  if (!labels.empty()) {
    out.push_back('{');
    out.append(labels);
    out.push_back('}');
  }
  out.push_back(' ');
  append_number(out, value);
  out.push_back('\n');
}

void append_histogram(std::string& out, const MetricSpec& spec, std::string_view labels,
                      const metric_cells::HistogramCell& cell) {
  const std::string begin = std::string(spec.name) + "_bucket{" + std::string(labels) +
                            (labels.empty() ? "le=\"" : ",le=\"");
  std::uint64_t cumulated = 0;
  for (std::size_t i = 0; i < cell.buckets.size(); ++i) {
    cumulated += cell.buckets[i].load(std::memory_order_relaxed);
    out.append(begin);
    if (i < kHistogramBounds.size()) {
      append_number(out, in_unit(kHistogramBounds[i], spec.unit));
    } else {
      out.append("+Inf");
    }
    out.append("\"} ");
    append_number(out, static_cast<double>(cumulated));
    out.push_back('\n');
  }
  const Duration sum(cell.sum_nanoseconds.load(std::memory_order_relaxed));
  append_sample(out, std::string(spec.name) + "_sum", labels, in_unit(sum, spec.unit));
  append_sample(out, std::string(spec.name) + "_count", labels, static_cast<double>(cumulated));
}

}  // namespace zerohop

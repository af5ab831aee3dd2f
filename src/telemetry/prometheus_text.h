// Writer for the Prometheus text exposition format, version 0.0.4
// (prometheus.io/docs/instrumenting/exposition_formats). Our own, because it is a page of code and
// the client library costs a lookup or a mutex per update. Pure functions; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "telemetry/handles.h"
#include "telemetry/metric_table.h"

namespace zerohop {

struct MetricLabel {
  std::string_view name;
  std::string_view value;  ///< any bytes; invalid UTF-8 is replaced
};

/// The HELP and TYPE lines of a family.
void append_family_head(std::string& out, const MetricSpec& spec);

/// `name="value",…`: what stands between the braces of a sample, made once for each series.
std::string label_text(std::span<const MetricLabel> labels);

/// `name{labels} value` and a line end; `labels` of label_text(), perhaps empty.
void append_sample(std::string& out, std::string_view name, std::string_view labels, double value);

/// The `_bucket`, `_sum` and `_count` lines of one histogram series, in the unit of `spec`.
void append_histogram(std::string& out, const MetricSpec& spec, std::string_view labels,
                      const metric_cells::HistogramCell& cell);

/// The shortest text that reads back as `value`; integers below 2^53 without exponent; "NaN",
/// "+Inf", "-Inf".
std::string format_number(double value);

}  // namespace zerohop

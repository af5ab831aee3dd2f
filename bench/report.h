// Figures of a benchmark: medians with their spread, because the machines are noisy.
#pragma once

#include <string_view>
#include <vector>

namespace zerohop::bench {

/// The value below which `share` of `values` lie; 0.5 is the median. `values` not empty.
double percentile(std::vector<double> values, double share);

/// "name   median 12.3   min 11.9   max 14.0 unit"
void print_row(std::string_view name, const std::vector<double>& values, std::string_view unit);

}  // namespace zerohop::bench

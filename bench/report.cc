#include "report.h"

#include <algorithm>
#include <cstdio>
#include <string>

namespace zerohop::bench {

double percentile(std::vector<double> values, double share) {
  const auto index = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(index),
                   values.end());
  return values[index];
}

void print_row(std::string_view name, const std::vector<double>& values, std::string_view unit) {
  std::printf("%-44s median %9.3f   min %9.3f   max %9.3f %s\n", std::string(name).c_str(),
              percentile(values, 0.5), percentile(values, 0.0), percentile(values, 1.0),
              std::string(unit).c_str());
  std::fflush(stdout);
}

}  // namespace zerohop::bench

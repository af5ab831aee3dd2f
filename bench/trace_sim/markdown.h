// Tables and a small chart for reports. Pure; any thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace zerohop::trace_sim {

/// A Markdown table, with columns padded so that it also reads as text.
class Table {
 public:
  explicit Table(std::vector<std::string> names) : rows_{std::move(names)} {}

  /// As many cells as there are names.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// `value` with that many digits behind the point.
std::string fixed(double value, int digits);

struct Line {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< y > 0
};

struct Chart {
  std::string title;
  std::string x_name;
  std::string y_name;  ///< drawn on a logarithmic axis
  std::vector<Line> lines;
};

/// A picture of `chart`, which has at least one point.
std::string svg(const Chart& chart);

}  // namespace zerohop::trace_sim

#include "trace_sim/markdown.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/check.h"

namespace zerohop::trace_sim {
namespace {

constexpr double kLeft = 70;
constexpr double kRight = 560;
constexpr double kTop = 40;
constexpr double kBottom = 300;
constexpr std::array<const char*, 4> kColours = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd"};

struct Span {
  double low = 1e300;
  double high = -1e300;
  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// Of "µ" and the like, one counts, not its bytes.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string at(double x, double y, const std::string& words, const char* anchor) {
  return "<text x=\"" + fixed(x, 1) + "\" y=\"" + fixed(y, 1) + "\" text-anchor=\"" + anchor +
         "\">" + words + "</text>\n";
}

std::string stroke(double x1, double y1, double x2, double y2) {
  return "<line x1=\"" + fixed(x1, 1) + "\" y1=\"" + fixed(y1, 1) + "\" x2=\"" + fixed(x2, 1) +
         "\" y2=\"" + fixed(y2, 1) + "\" stroke=\"#ccc\"/>\n";
}

}  // namespace

std::string fixed(double value, int digits) {
  std::array<char, 64> buffer{};
  const int size = std::snprintf(buffer.data(), buffer.size(), "%.*f", digits, value);
  return {buffer.data(), static_cast<std::size_t>(size)};
}

std::string Table::text() const {
  std::vector<std::size_t> widths(rows_.front().size(), 3);
  for (const std::vector<std::string>& row : rows_) {
    ZH_CHECK(row.size() == widths.size());
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string text;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string padding(widths[i] - width_of(rows_[r][i]), ' ');
      text += i == 0 ? "| " + rows_[r][i] + padding : " | " + padding + rows_[r][i];
    }
    text += " |\n";
    if (r > 0) continue;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      text += (i == 0 ? "| " : " | ") + std::string(widths[i] - 1, '-') + (i == 0 ? "-" : ":");
    }
    text += " |\n";
  }
  return text;
}

std::string svg(const Chart& chart) {
  Span x;
  Span y;
  for (const Line& line : chart.lines) {
    for (const auto& [across, up] : line.points) {
      x.take(across);
      y.take(std::log10(up));
    }
  }
  ZH_CHECK(x.low <= x.high);
  y.low = std::floor(y.low);
  y.high = std::max(std::ceil(y.high), y.low + 1);
  const double x_scale = (kRight - kLeft) / std::max(x.high - x.low, 1e-9);
  const auto place_x = [&](double value) { return kLeft + (value - x.low) * x_scale; };
  const auto place_y = [&](double power) {
    return kBottom - (power - y.low) * (kBottom - kTop) / (y.high - y.low);
  };
  std::string text =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"350\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"720\" height=\"350\" fill=\"white\"/>\n";
  text += at((kLeft + kRight) / 2, 20, chart.title, "middle");
  text += at((kLeft + kRight) / 2, kBottom + 38, chart.x_name, "middle");
  text += at(kLeft, kTop - 8, chart.y_name, "middle");
  for (double power = y.low; power <= y.high; ++power) {
    text += stroke(kLeft, place_y(power), kRight, place_y(power));
    text += at(kLeft - 6, place_y(power) + 4, fixed(std::pow(10, power), power < 0 ? 2 : 0), "end");
  }
  for (const auto& [across, up] : chart.lines.front().points) {
    text += at(place_x(across), kBottom + 18, fixed(across, 1), "middle");
  }
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const std::string colour = kColours.at(i % kColours.size());
    text += "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" + colour + "\" points=\"";
    for (const auto& [across, up] : chart.lines[i].points) {
      text += fixed(place_x(across), 1) + "," + fixed(place_y(std::log10(up)), 1) + " ";
    }
    text += "\"/>\n<g fill=\"" + colour + "\">" +
            at(kRight + 10, kTop + 18 * static_cast<double>(i), chart.lines[i].name, "start") +
            "</g>\n";
  }
  return text + "</svg>\n";
}

}  // namespace zerohop::trace_sim

#include "app/progress.h"

#include <unistd.h>

#include <algorithm>
#include <memory>

namespace zerohop {
namespace {

constexpr std::uint64_t kBarCells = 30;

std::string megabytes(std::uint64_t bytes) { return std::to_string(bytes / 1'000'000); }

}  // namespace

std::string progress_bar(std::uint64_t bytes_done, std::uint64_t bytes_total) {
  if (bytes_total == 0) return megabytes(bytes_done) + " MB";
  const std::uint64_t done = std::min(bytes_done, bytes_total);
  const std::uint64_t cells = done * kBarCells / bytes_total;
  std::string bar = "[" + std::string(cells, '=');
  if (cells < kBarCells) bar += ">" + std::string(kBarCells - cells - 1, ' ');
  std::string percent = std::to_string(done * 100 / bytes_total);
  percent.insert(0, 3 - std::min<std::size_t>(percent.size(), 3), ' ');
  bar.append("] ").append(percent).append(" %  ");
  bar.append(megabytes(done)).append(" of ").append(megabytes(bytes_total)).append(" MB");
  return bar;
}

void ProgressPrinter::update(std::uint64_t bytes_done, std::uint64_t bytes_total) {
  if (style_ == ProgressStyle::kBar) {
    const std::string bar = progress_bar(bytes_done, bytes_total);
    if (bar == shown_) return;
    out_ << '\r' << bar << std::flush;
    shown_ = bar;
    return;
  }
  if (bytes_total == 0) return;
  const std::uint64_t tenths = std::min(bytes_done, bytes_total) * 10 / bytes_total;
  if (tenths <= tenths_told_) return;
  tenths_told_ = tenths;
  out_ << "  " << tenths * 10 << " %\n" << std::flush;
}

void ProgressPrinter::say(const std::string& line) {
  end_bar();
  out_ << line << '\n' << std::flush;
}

void ProgressPrinter::end_bar() {
  if (!shown_.empty()) out_ << '\n';
  shown_.clear();
  tenths_told_ = 0;
}

std::function<void(double share)> load_progress(std::ostream& out, ProgressStyle style,
                                                std::uint64_t bytes) {
  if (style == ProgressStyle::kLines && bytes < kLoadLinesFromBytes) return nullptr;
  auto printer = std::make_shared<ProgressPrinter>(out, style);
  printer->say("loading the model");
  return [printer, bytes, over = false](double share) mutable {
    if (over) return;
    const double done = std::clamp(share, 0.0, 1.0) * static_cast<double>(bytes);
    printer->update(static_cast<std::uint64_t>(done), bytes);
    over = share >= 1;
    if (over) printer->say("the model is loaded");
  };
}

ProgressStyle progress_style_of_stderr() {
  return isatty(STDERR_FILENO) != 0 ? ProgressStyle::kBar : ProgressStyle::kLines;
}

}  // namespace zerohop

// Progress of a long transfer, for people: a bar that redraws itself on a terminal, a line for each
// tenth elsewhere (a log must not fill up with redraws). One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

namespace zerohop {

enum class ProgressStyle : std::uint8_t { kBar, kLines };

/// "[=====>    ]  52 %  48 of 93 MB"; without a known total, "48 MB".
std::string progress_bar(std::uint64_t bytes_done, std::uint64_t bytes_total);

class ProgressPrinter {
 public:
  /// `out` must outlive the printer.
  ProgressPrinter(std::ostream& out, ProgressStyle style) : out_(out), style_(style) {}

  /// Prints when there is something new to see. More than the total counts as the total.
  void update(std::uint64_t bytes_done, std::uint64_t bytes_total);

  /// A line of its own, after the bar's.
  void say(const std::string& line);

 private:
  void end_bar();

  std::ostream& out_;
  const ProgressStyle style_;
  std::string shown_;              // the bar on screen; empty: none
  std::uint64_t tenths_told_ = 0;  // for kLines
};

/// Lines about the loading of less would be over before anybody has read them.
inline constexpr std::uint64_t kLoadLinesFromBytes = std::uint64_t{1} << 30;

/// Shows how a model of so many bytes is loaded: takes the share that is done, 1 at the end. Empty
/// where there is nothing to show. `out` must outlive it.
std::function<void(double share)> load_progress(std::ostream& out, ProgressStyle style,
                                                std::uint64_t bytes);

/// kBar when standard error is a terminal.
ProgressStyle progress_style_of_stderr();

}  // namespace zerohop

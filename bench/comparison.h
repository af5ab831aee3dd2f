// What a comparison of two servers found, or figures of one: printed as it comes, and written to a
// page of docs/ with everything that is needed to read and repeat it.
//
// One thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "child_server.h"

namespace zerohop::bench {

/// What a scenario's two columns are called.
struct ComparisonColumns {
  std::string ours = "zerohop";
  std::string peer = "llama-server";  ///< empty: there is one column of figures
};

/// One line of a scenario's table.
struct ComparisonRow {
  std::string label;
  std::string unit = {};
  std::vector<double> ours = {};  ///< a value for each round; the median is compared
  std::vector<double> peer = {};  ///< empty: the peer has no such figure
  std::string goal = {};          ///< in words; empty: none
  std::optional<bool> met = std::nullopt;
};

class Comparison {
 public:
  /// Begins a scenario; the rows and notes that follow belong to it. `text` says what was done.
  void begin(const std::string& name, const std::string& text, ComparisonColumns columns = {});
  void add(ComparisonRow row);
  void note(const std::string& text);

  /// Writes the page: the head anew, the scenarios of this run in place of those of the same name,
  /// other scenarios of the page as they stand there.
  void write(const std::string& path, const std::string& head) const;

 private:
  struct Section {
    std::string name;
    std::string body;
  };
  std::vector<Section> sections_;
  ComparisonColumns columns_;
  bool in_table_ = false;
};

/// "AMD EPYC, 2 cores, 8 GiB, Debian GNU/Linux 12": the machine without its name or date.
std::string machine_description();

}  // namespace zerohop::bench

#include "comparison.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "report.h"

namespace zerohop::bench {
namespace {

std::string number(double value) {
  char buffer[64];
  const double size = value < 0 ? -value : value;
  const int digits = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 1 ? 2 : 3;
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  return buffer;
}

std::string summary(const std::vector<double>& values, const std::string& unit) {
  if (values.empty()) return "–";
  std::string text = number(percentile(values, 0.5));
  if (!unit.empty()) text += " " + unit;
  if (values.size() > 1) {
    text += " (" + number(percentile(values, 0)) + " to " + number(percentile(values, 1)) + ")";
  }
  return text;
}

std::string ratio(const ComparisonRow& row) {
  if (row.ours.empty() || row.peer.empty() || percentile(row.peer, 0.5) == 0) return "–";
  return number(percentile(row.ours, 0.5) / percentile(row.peer, 0.5));
}

std::string verdict(const ComparisonRow& row) {
  if (!row.met) return row.goal;
  return row.goal + (*row.met ? ": reached" : ": **missed**");
}

// The value of the first line of `path` that begins with `key`, behind its separator.
std::string value_of(const std::string& path, const std::string& key, char separator) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(key)) continue;
    std::string value = line.substr(line.find(separator) + 1);
    std::erase(value, '"');
    value.erase(0, value.find_first_not_of(' '));
    return value;
  }
  return "unknown";
}

}  // namespace

void Comparison::begin(const std::string& name, const std::string& text,
                       ComparisonColumns columns) {
  columns_ = std::move(columns);
  sections_.push_back(Section{name, "## " + name + "\n\n" + text + "\n"});
  in_table_ = false;
  std::printf("\n%s: %s\n", name.c_str(), text.c_str());
  std::fflush(stdout);
}

void Comparison::add(ComparisonRow row) {
  std::string& body = sections_.back().body;
  const bool two = !columns_.peer.empty();
  if (!in_table_) {
    body += "\n| | " + columns_.ours + " | " + (two ? columns_.peer + " | ratio | " : "") +
            "goal |\n|---|---|---|" + (two ? "---|---|\n" : "\n");
  }
  in_table_ = true;
  const std::string ours = summary(row.ours, row.unit);
  const std::string peer = two ? summary(row.peer, row.unit) : "";
  body += "| " + row.label + " | " + ours + " | " + (two ? peer + " | " + ratio(row) + " | " : "") +
          verdict(row) + " |\n";
  const std::string shown_ratio = two ? "ratio " + ratio(row) : "";
  std::printf("  %-52s %-34s %-34s %-14s %s\n", row.label.c_str(), ours.c_str(), peer.c_str(),
              shown_ratio.c_str(), verdict(row).c_str());
  std::fflush(stdout);
}

void Comparison::note(const std::string& text) {
  sections_.back().body += "\n" + text + "\n";
  in_table_ = false;
  std::printf("  %s\n", text.c_str());
  std::fflush(stdout);
}

void Comparison::write(const std::string& path, const std::string& head) const {
  std::vector<Section> all;
  std::ifstream old(path);
  std::string line;
  while (std::getline(old, line)) {
    if (line.starts_with("## ")) all.push_back(Section{line.substr(3), ""});
    if (!all.empty()) all.back().body += line + "\n";
  }
  for (const Section& section : sections_) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const Section& candidate) {
      return candidate.name == section.name;
    });
    if (same == all.end()) {
      all.push_back(section);
    } else {
      same->body = section.body;
    }
  }
  std::string page = head;
  for (const Section& section : all) {
    while (page.ends_with("\n\n")) page.pop_back();
    page += "\n" + section.body;
  }
  while (page.ends_with("\n\n")) page.pop_back();
  std::ofstream(path) << page;
}

std::string machine_description() {
  struct sysinfo info {};
  sysinfo(&info);
  const double gib = static_cast<double>(info.totalram) * info.mem_unit / (1 << 30);
  std::ostringstream text;
  text << value_of("/proc/cpuinfo", "model name", ':') << ", "
       << std::thread::hardware_concurrency() << " cores, " << number(gib) << " GiB, "
       << value_of("/etc/os-release", "PRETTY_NAME", '=');
  return text.str();
}

}  // namespace zerohop::bench

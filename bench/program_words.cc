#include "program_words.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "model/default_model_path.h"

namespace zerohop::bench {
namespace {

[[noreturn]] void give_up(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::exit(2);
}

// The benchmarks lie in BUILD/bench, the program in BUILD.
std::string own_zerohop() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "zerohop")
      .string();
}

}  // namespace

ProgramWords::ProgramWords(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--")) {
      names_.push_back(words[i]);
    } else if (i + 1 < words.size()) {
      flags_[words[i].substr(2)] = words[i + 1];
      ++i;
    } else {
      give_up(words[i] + " needs a value");
    }
  }
}

bool ProgramWords::wants(const std::string& name) const {
  return names_.empty() || std::find(names_.begin(), names_.end(), name) != names_.end();
}

std::string ProgramWords::text(const std::string& key, const std::string& otherwise) const {
  const auto found = flags_.find(key);
  return found == flags_.end() ? otherwise : found->second;
}

int ProgramWords::number(const std::string& key, int otherwise) const {
  return static_cast<int>(share(key, otherwise));
}

double ProgramWords::share(const std::string& key, double otherwise) const {
  const auto found = flags_.find(key);
  if (found == flags_.end()) return otherwise;
  char* end = nullptr;
  const double value = std::strtod(found->second.c_str(), &end);
  if (end == found->second.c_str() || *end != '\0') give_up("--" + key + " takes a number");
  return value;
}

Programs ProgramWords::programs() const {
  Programs programs{.ours = text("ours", own_zerohop()),
                    .peer = text("peer", ""),
                    .model = text("model", default_model_path()),
                    .threads = number("threads", 2)};
  for (const std::string& path : {programs.ours, programs.peer, programs.model}) {
    if (!path.empty() && !std::filesystem::exists(path)) give_up(path + " is not there");
  }
  return programs;
}

}  // namespace zerohop::bench

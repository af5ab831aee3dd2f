// The command line of a benchmark: names of scenarios and `--key value`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "child_server.h"

namespace zerohop::bench {

/// Constant after construction.
class ProgramWords {
 public:
  /// Ends the program with a message when a flag has no value.
  ProgramWords(int argc, char** argv);

  /// True when no names were given, or this one.
  bool wants(const std::string& name) const;
  bool has(const std::string& key) const { return flags_.contains(key); }
  std::string text(const std::string& key, const std::string& otherwise) const;
  int number(const std::string& key, int otherwise) const;
  double share(const std::string& key, double otherwise) const;

  /// --ours, --peer, --model, --threads; without them the zerohop of the same build, no peer, the
  /// default model in the user's data folder, 2. Ends the program when a file is not there.
  Programs programs() const;

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::string> flags_;
};

}  // namespace zerohop::bench

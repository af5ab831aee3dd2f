// A thousand keys for servers under test, in a folder of their own that goes with the object. All
// of them, and their tenant, have a limit of every kind, and none of these refuses anything.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "app/test_folder.h"

namespace zerohop::bench {

class DoorKeys {
 public:
  /// Makes them: some seconds, as every key is safe on disk before the next.
  DoorKeys();

  const std::vector<std::string>& texts() const { return texts_; }
  /// One more, that may make one request a minute.
  const std::string& slow() const { return slow_; }

  /// The environment of a server that asks for these keys and keeps usage and budgets, each time in
  /// another folder.
  std::vector<std::string> environment();
  const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  const TestFolder folder_;
  std::vector<std::string> texts_;
  std::string slow_;
  int servers_ = 0;
};

/// A header line.
std::string key_header(const std::string& key);

}  // namespace zerohop::bench

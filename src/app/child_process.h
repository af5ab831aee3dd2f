// One child process: started without a shell, watched until it ends, its output kept up to a limit.
//
// Blocks the calling thread; main thread at start, or a tool. The child gets an empty standard
// input, and its standard output and error arrive in one stream.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

namespace zerohop {

struct ChildCommand {
  std::vector<std::string> arguments;  ///< the first is the program, looked up in PATH
  std::vector<std::pair<std::string, std::string>> environment;  ///< on top of this process's own
  std::function<void()>
      on_tick;  ///< called about every `tick` while it runs, and at its end; may be empty
  std::chrono::milliseconds tick{200};
};

struct ChildExit {
  int code = 0;        ///< as a shell counts: 128 + signal when it was killed
  std::string output;  ///< its last bytes, at most kChildOutputBytesMax
};

inline constexpr std::size_t kChildOutputBytesMax = std::size_t{64} << 10;

/// Errors: kNotFound when there is no such program; kInternal when the system cannot start it.
Result<ChildExit> run_child(const ChildCommand& command);

/// The last line of `output` that is not blank: where programs say what went wrong.
std::string last_line(const std::string& output);

}  // namespace zerohop

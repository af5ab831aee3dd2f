// One child process: started without a shell, watched until it ends, its output kept up to a limit.
//
// Blocks the calling thread: the main thread at start, a tool, or a thread made for waiting.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

namespace zerohop {

inline constexpr std::size_t kChildOutputBytesMax = std::size_t{64} << 10;

enum class ChildErrors : std::uint8_t {
  kWithOutput,  ///< standard error and standard output arrive in one stream
  kDropped,
};

/// What happens to a child whose output exceeds `output_bytes_max`.
enum class ChildOverflow : std::uint8_t {
  kKeepTail,  ///< it runs on; its last bytes are kept
  kKill,
};

struct ChildCommand {
  std::vector<std::string> arguments;  ///< the first is the program, looked up in PATH
  std::string input{};                 ///< what it reads from standard input
  std::vector<std::pair<std::string, std::string>> environment;  ///< on top of this process's own
  std::function<void()>
      on_tick;  ///< called about every `tick` while it runs, and at its end; may be empty
  std::chrono::milliseconds tick{200};
  ChildErrors errors = ChildErrors::kWithOutput;
  std::size_t output_bytes_max = kChildOutputBytesMax;
  ChildOverflow overflow = ChildOverflow::kKeepTail;
  std::optional<std::chrono::milliseconds> time_limit{};  ///< then it is killed
  std::uint64_t memory_bytes_max = 0;                     ///< of its address space; 0: no limit
};

struct ChildExit {
  int code = 0;  ///< as a shell counts: 128 + signal when it was killed
  std::string output;
  bool timed_out = false;
  bool overflowed = false;  ///< killed because of ChildOverflow::kKill
};

/// Errors: kNotFound when there is no such program; kInternal when the system cannot start it.
/// Limits are looked at once a `tick`.
Result<ChildExit> run_child(const ChildCommand& command);

/// The last line of `output` that is not blank: where programs say what went wrong.
std::string last_line(const std::string& output);

}  // namespace zerohop

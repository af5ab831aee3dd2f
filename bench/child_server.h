// A server under test in a process of its own: this project's or its peer's, with the same model,
// the same number of cells and threads.
//
// One thread owns it; the process ends with the object.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "process_use.h"

namespace zerohop::bench {

enum class Side : std::uint8_t { kOurs, kPeer };

/// "zerohop" or "llama-server".
std::string_view name_of(Side side);

/// What a benchmark compares.
struct Programs {
  std::string ours;   ///< path of `zerohop`
  std::string peer;   ///< path of `llama-server`; empty: only ours is measured
  std::string model;  ///< path of a GGUF file
  int threads = 2;
};

/// Host memory for parked states that a run of minutes fills.
inline constexpr const char* kSmallHostCache = "ZEROHOP_ENGINE_HOST_CACHE_BYTES=67108864";

/// What a server may use, and what it writes.
struct Room {
  int sequences = 8;  ///< computed at once; the peer's slots
  int cells = 16384;  ///< of the KV cache, for all sequences together
  int window = 2048;  ///< of one request; the peer's is cells ÷ sequences
  /// A file for the log of every request (ours alone); empty: errors only, to standard error.
  std::string log_file = {};
};

class ChildServer {
 public:
  /// Starts it on a free port and waits until it answers. `environment` (NAME=value) is added to
  /// that of this process. Crashes with a message when it does not come up.
  ChildServer(const Programs& programs, Side side, const Room& room,
              std::vector<std::string> environment = {});
  /// Asks it to end, and makes it.
  ~ChildServer();
  ChildServer(const ChildServer&) = delete;
  ChildServer& operator=(const ChildServer&) = delete;

  std::uint16_t port() const { return port_; }
  Side side() const { return side_; }
  pid_t pid() const { return pid_; }

  /// False when the process has ended by itself.
  bool alive();
  ProcessUse use() const { return process_use(pid_); }

  /// The value of a series of our /metrics page whose line begins with `name` and contains `label`;
  /// summed over all such. Nothing when there is none.
  std::optional<double> metric(std::string_view name, std::string_view label = {}) const;

 private:
  void wait_until_ready();

  const Side side_;
  const std::uint16_t port_;
  pid_t pid_ = -1;
};

/// ChildServer::metric() on a page that is there.
std::optional<double> metric_in(std::string_view page, std::string_view name,
                                std::string_view label = {});

/// The line of `program --version` that names the version.
std::string version_of(const std::string& program, Side side);

}  // namespace zerohop::bench

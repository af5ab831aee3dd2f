// A server inside this process, made as `zerohop serve` makes one: two of them can be compared
// without two processes being compared.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/config.h"
#include "app/server.h"
#include "base/clock.h"
#include "child_server.h"

namespace zerohop::bench {

/// Keeps this thread, and those that it starts meanwhile, on one core. Where the process may use
/// one alone, it changes nothing.
class OnCore {
 public:
  enum class Core : std::uint8_t { kFirst, kLast };  ///< of those that the process may use
  explicit OnCore(Core core);
  ~OnCore();
  OnCore(const OnCore&) = delete;
  OnCore& operator=(const OnCore&) = delete;

 private:
  std::vector<int> before_;  // cores; empty: nothing was changed
};

class OwnServer {
 public:
  /// `environment`: NAME=value; nothing else is read. Crashes with a message when it does not come
  /// up. All its threads are started here.
  OwnServer(const Programs& programs, const Room& room,
            const std::vector<std::string>& environment);
  ~OwnServer();
  OwnServer(const OwnServer&) = delete;
  OwnServer& operator=(const OwnServer&) = delete;

  std::uint16_t port() const { return port_; }

 private:
  const SteadyClock clock_;
  const Config config_;
  Server server_;
  std::uint16_t port_ = 0;
  std::thread io_;
};

}  // namespace zerohop::bench

// ConfigKeeper: the configuration of a running server, read again when somebody asks (SIGHUP,
// POST /admin/reload).
//
//   reload() ─ keeper's thread: read, check, build ─▶ I/O thread: compare, swap ─▶ what changed
//                                    │ wrong
//                                    └─▶ an error with file, line and key; nothing has changed
//
// Readings follow each other in the order in which they were asked for, so who asks after a change
// of the file gets that change. What only a restart changes is named in the answer and the log, and
// stays as it was at the start.
//
// I/O thread, but for the reading.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/config_load.h"
#include "app/live_config.h"
#include "app/service.h"
#include "app/worker_pool.h"
#include "core/error.h"
#include "http/awaitable.h"

namespace zerohop {

struct ConfigKeeperParts {
  /// Reads all sources anew. On the keeper's thread.
  std::function<Result<LoadedConfig>()> read;
  Service* service = nullptr;
  /// Brings a snapshot into force.
  std::function<void(std::shared_ptr<LiveConfig>)> use;
};

class ConfigKeeper {
 public:
  /// What `parts` points to outlives the keeper.
  explicit ConfigKeeper(ConfigKeeperParts parts) : parts_(std::move(parts)) {}
  ~ConfigKeeper() { thread_.join(); }
  ConfigKeeper(const ConfigKeeper&) = delete;
  ConfigKeeper& operator=(const ConfigKeeper&) = delete;

  /// Reads everything anew and brings it into force. It is counted and logged. Errors:
  /// kConfiguration; what was in force stays so entirely.
  Awaitable<Result<ConfigChanges>> reload();

 private:
  struct Reading {
    LoadedConfig loaded;
    std::shared_ptr<LiveConfig> live;
  };

  Result<Reading> read() const;

  const ConfigKeeperParts parts_;
  WorkerPool thread_{1};  // last: its work uses the parts
};

/// The answer of POST /admin/reload: what was applied, and what needs a restart.
std::string config_changes_body(const ConfigChanges& changes);

}  // namespace zerohop

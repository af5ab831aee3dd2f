// LiveConfig: the part of the configuration that may change while the server runs, read and ready
// to be asked. Immutable; a reload makes a new one and swaps it in one step.
//
//   file, environment, flags ─ load ─▶ LoadedConfig ─ next_live_config() ─▶ LiveConfig ─▶ slot
//                                 └ wrong: an error, and the slot stays as it is
//
// A request takes the snapshot once, with its head, and is served by it to its end, so it never
// sees half of a change. What a key of the table does is said there (TakesEffect): a snapshot has
// the reloadable keys as they were read last, and all others as they were at the start.
//
// Plain values; any thread.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "api/model_list.h"
#include "app/config.h"
#include "app/config_load.h"
#include "app/document_text.h"
#include "app/instance_identity.h"
#include "app/limit_settings.h"
#include "app/request_profile.h"
#include "app/request_schedule.h"
#include "app/slo_objectives.h"
#include "app/wire_profile.h"
#include "core/error.h"

namespace zerohop {

struct LiveConfig {
  Config config;  ///< all keys: those that need a restart as at the start
  WireProfiles wire_profiles;
  RequestProfiles profiles;
  LimitSettings limits;
  InstanceIdentity identity;
  DocumentLimits documents;
  ClassWaits waits;  ///< longest waits for the first token
  std::vector<SloObjective> objectives;
  // Put in by the server, which knows its tier
  std::vector<ModelDescription> models;
  std::shared_ptr<const SloMetrics> slo;  ///< null: no objectives
};

/// Of a configuration that was checked. Errors: kConfiguration.
Result<std::shared_ptr<LiveConfig>> make_live_config(const Config& config);

/// The configuration of the start with the reloadable keys of `read`. Errors: kConfiguration
/// (what can change now contradicts what cannot).
Result<std::shared_ptr<LiveConfig>> next_live_config(const Config& start, const LoadedConfig& read);

/// What a new reading came to, as paths of keys in the order of the table.
struct ConfigChanges {
  std::vector<std::string> applied;        ///< other values than before
  std::vector<std::string> needs_restart;  ///< other values than at the start, which stay in force
};

/// `before`: what was in force until now.
ConfigChanges changes_of(const Config& before, const LoadedConfig& read);

/// The snapshot in force. Readers copy a pointer and wait for nobody who works.
class LiveConfigSlot {
 public:
  /// Null before the first set().
  std::shared_ptr<const LiveConfig> get() const { return live_.load(std::memory_order_acquire); }
  void set(std::shared_ptr<const LiveConfig> live) {
    live_.store(std::move(live), std::memory_order_release);
  }

 private:
  std::atomic<std::shared_ptr<const LiveConfig>> live_;
};

}  // namespace zerohop

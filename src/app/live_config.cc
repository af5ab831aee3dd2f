#include "app/live_config.h"

#include <chrono>
#include <utility>

#include "base/check.h"

namespace zerohop {
namespace {

DocumentLimits document_limits_of(const DocumentsConfig& config) {
  DocumentLimits limits;
  limits.pdf_bytes_max = config.pdf_bytes_max;
  limits.pages_max = config.pages_max;
  limits.time_max = std::chrono::seconds(config.timeout_seconds);
  return limits;
}

// An id that was made up anew is no wish of anybody.
bool is_made_up(const ConfigKey& key, const LoadedConfig& read) {
  for (const ConfigOrigin& entry : read.origins) {
    if (entry.key == &key) return entry.origin == kMadeUpOrigin;
  }
  return false;
}

}  // namespace

Result<std::shared_ptr<LiveConfig>> make_live_config(const Config& config) {
  ZH_ASSIGN_OR_RETURN(WireProfiles wire_profiles, WireProfiles::from_config(config));
  ZH_ASSIGN_OR_RETURN(RequestProfiles profiles, RequestProfiles::from_config(config));
  ZH_ASSIGN_OR_RETURN(LimitSettings limits, LimitSettings::from_config(config.limits));
  ZH_ASSIGN_OR_RETURN(const ClassWaits waits, class_waits(config));
  ZH_ASSIGN_OR_RETURN(std::vector<SloObjective> objectives, slo_objectives(config));
  return std::make_shared<LiveConfig>(LiveConfig{config,
                                                 std::move(wire_profiles),
                                                 std::move(profiles),
                                                 std::move(limits),
                                                 InstanceIdentity(config.instance),
                                                 document_limits_of(config.documents),
                                                 waits,
                                                 std::move(objectives),
                                                 {},
                                                 nullptr});
}

Result<std::shared_ptr<LiveConfig>> next_live_config(const Config& start,
                                                     const LoadedConfig& read) {
  Config merged = start;
  Config wanted = read.config;
  for (const ConfigKey& key : config_table()) {
    if (key.takes_effect != TakesEffect::kReload) continue;
    const auto applied = apply_value(key, value_in(key, wanted), merged);
    ZH_CHECK(applied.ok());  // the value was applied once already
  }
  const Result<void> fits = check_config_rules(merged);
  if (!fits.ok()) {
    Error error = fits.error();
    error.message += " (with the settings of the start that only a restart changes)";
    return error;
  }
  return make_live_config(merged);
}

ConfigChanges changes_of(const Config& before, const LoadedConfig& read) {
  ConfigChanges changes;
  Config old = before;
  Config wanted = read.config;
  for (const ConfigKey& key : config_table()) {
    if (value_in(key, old) == value_in(key, wanted)) continue;
    if (is_made_up(key, read)) continue;
    const bool now = key.takes_effect == TakesEffect::kReload;
    (now ? changes.applied : changes.needs_restart).emplace_back(key.path);
  }
  return changes;
}

}  // namespace zerohop

#include "app/config_keeper.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "app/config_table.h"
#include "app/model_names.h"
#include "base/log.h"

namespace zerohop {
Result<ConfigKeeper::Reading> ConfigKeeper::read() const {
  ZH_ASSIGN_OR_RETURN(LoadedConfig loaded, parts_.read());
  Result<std::shared_ptr<LiveConfig>> live = next_live_config(parts_.service->config, loaded);
  if (!live.ok()) return with_origin(loaded, std::move(live).error());
  const Result<void> names =
      check_alias_targets((*live)->config.model, parts_.service->tier().name());
  if (!names.ok()) return with_origin(loaded, names.error());
  const Result<void> tiers =
      check_objective_tiers((*live)->objectives, parts_.service->tier().name());
  if (!tiers.ok()) return with_origin(loaded, tiers.error());
  return Reading{std::move(loaded), std::move(live).value()};
}

Awaitable<Result<ConfigChanges>> ConfigKeeper::reload() {
  Metrics& metrics = parts_.service->metrics;
  auto work = [this] { return read(); };
  Result<Reading> reading = co_await run_on_worker(thread_, std::move(work));
  if (!reading.ok()) {
    metrics.count_config_reload("failed");
    log_error("the configuration stays as it was", {{"reason", reading.error().message}});
    co_return reading.error();
  }
  const std::shared_ptr<const LiveConfig> before = parts_.service->live.get();
  ConfigChanges changes = changes_of(before->config, reading->loaded);
  if (!changes.applied.empty()) parts_.use(std::move(reading->live));
  metrics.count_config_reload(changes.applied.empty() ? "unchanged" : "applied");
  log_info("configuration read again", {{"applied", value_text(changes.applied)},
                                        {"needs_restart", value_text(changes.needs_restart)}});
  co_return changes;
}

std::string config_changes_body(const ConfigChanges& changes) {
  const auto& [applied, needs_restart] = changes;
  const boost::json::object body{
      {"reloaded", true},
      {"applied", boost::json::array(applied.begin(), applied.end())},
      {"needs_restart", boost::json::array(needs_restart.begin(), needs_restart.end())}};
  return boost::json::serialize(body);
}

}  // namespace zerohop

#include "app/console_data.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <memory>
#include <utility>

#include "app/explain_request.h"
#include "app/live_requests.h"
#include "app/request_history.h"
#include "app/version.h"

namespace zerohop {
namespace {

namespace json = boost::json;

constexpr std::size_t kShownLive = 100;
constexpr std::size_t kShownOfKind = 50;
constexpr std::size_t kListed = 200;

json::array describe_live(const Service& service, ConsoleView view) {
  json::array all;
  const TimePoint now = service.clock.now();
  service.live_requests.each([&](const RequestContext& request, const std::string& path) {
    const TenantRecord& tenant = *request.caller.tenant;
    if (all.size() == kShownLive || !shows(view, tenant.number)) return;
    all.push_back({{"id", request.request_id},
                   {"tenant", tenant.name},
                   {"path", path},
                   {"state", request_state_name(request.life.state())},
                   {"age_ms", to_milliseconds(request.life.age(now))},
                   {"prompt_tokens", request.usage.prompt_tokens},
                   {"cached_tokens", request.usage.prompt_tokens_cached},
                   {"pieces", request.pieces_out}});
  });
  return all;
}

json::array describe_ended(const Service& service, ConsoleView view, std::size_t most) {
  json::array all;
  service.history.latest([&](const RequestRecord& record) {
    if (shows(view, record.tenant_number)) all.push_back(describe_request(record));
    return all.size() < most;
  });
  return all;
}

// At most so many of each kind, together in the order of their ends.
json::array describe_both_kinds(const Service& service, ConsoleView view) {
  json::array all;
  std::size_t answered = 0;
  std::size_t refused = 0;
  service.history.latest([&](const RequestRecord& record) {
    std::size_t& kind = record.status >= 400 ? refused : answered;
    if (kind < kShownOfKind && shows(view, record.tenant_number)) {
      ++kind;
      all.push_back(describe_request(record));
    }
    return all.size() < 2 * kShownOfKind;
  });
  return all;
}

json::object describe_totals(const Service& service, const EngineSnapshot& engine) {
  return {{"answered", service.history.answered()},
          {"refused", service.history.refused()},
          {"turned_away", service.history.turned_away()},
          {"output_tokens", engine.output_tokens},
          {"prompt_tokens_computed", engine.prompt_tokens_computed},
          {"prompt_tokens_cached", engine.prompt_tokens_cached},
          {"steps", engine.steps},
          {"busy_seconds", to_seconds(engine.busy)},
          {"threads", engine.threads},
          {"forced_tokens", engine.constraints.forced_tokens},
          {"drafted_tokens", engine.drafts.drafted},
          {"accepted_draft_tokens", engine.drafts.accepted},
          {"evicted_tokens", engine.tokens_evicted}};
}

void add_engine(const EngineSnapshot& engine, json::object& body) {
  body["rung"] = pressure_rung_name(engine.rung);
  body["rung_cause"] = pressure_cause_name(engine.rung_cause);
  body["fragmentation"] = engine.fragmentation;
  body["queue"] = {{"queued", engine.queued},         {"queued_tokens", engine.queued_tokens},
                   {"prefilling", engine.prefilling}, {"decoding", engine.decoding},
                   {"paused", engine.paused},         {"parked", engine.parked_requests}};
  body["cells"] = {{"total", engine.cells_total},
                   {"active", engine.cells_active},
                   {"reserved", engine.cells_reserved},
                   {"cached", engine.cells_cached},
                   {"pinned", engine.cells_pinned}};
  body["cache"] = {{"hit_rate", engine.cache_hit_rate()},
                   {"host_bytes", engine.host_bytes},
                   {"host_bytes_max", engine.host_bytes_max},
                   {"host_entries", engine.host_entries}};
}

}  // namespace

bool shows(ConsoleView view, TenantId tenant) { return view == nullptr || view->number == tenant; }

std::string console_data(const Service& service, ConsoleView view) {
  const EngineSnapshot engine = service.tier().snapshot();
  const InstanceConfig& instance = service.config.instance;
  const auto wall = service.clock.wall().time_since_epoch();
  const Health health = judge_health(
      {engine, service.progress.without_progress(service.clock.now()), service.admission.closed()});
  json::object body{
      {"instance", instance.id},
      {"pool", instance.pool},
      {"model", service.tier().name()},
      {"version", kVersion},
      {"unix_ms", std::chrono::duration_cast<std::chrono::milliseconds>(wall).count()},
      {"health", health_name(health)},
      {"requests_in_flight", service.admission.in_flight()}};
  body["view"] = view == nullptr ? json::value() : json::value(view->name);
  add_engine(engine, body);
  body["totals"] = describe_totals(service, engine);
  body["live"] = describe_live(service, view);
  body["recent"] = describe_both_kinds(service, view);
  return json::serialize(body);
}

std::string requests_body(const Service& service, ConsoleView view) {
  return json::serialize(json::object{{"data", describe_ended(service, view, kListed)}});
}

}  // namespace zerohop

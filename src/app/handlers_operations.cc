// Probes and metrics. Cheap enough for a probe per second from a thousand clients: a snapshot is
// copied and a few numbers are printed.

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <memory>

#include "app/handlers.h"
#include "app/health.h"
#include "app/json_response.h"
#include "app/request_context.h"
#include "app/system_info.h"
#include "app/version.h"
#include "app/worker_pool.h"
#include "http/exchange.h"
#include "telemetry/inference_extension.h"

namespace zerohop {
namespace {

namespace json = boost::json;

Awaitable<void> respond_json(Exchange& exchange, int status, const json::object& body) {
  HttpResponse response = json_response(status, json::serialize(body));
  co_await exchange.respond(std::move(response));
}

void add_engine_numbers(const EngineSnapshot& engine, json::object& body) {
  body["parked"] = engine.parked_requests;
  body["rung"] = pressure_rung_name(engine.rung);
  body["rung_cause"] = pressure_cause_name(engine.rung_cause);
  body["circuit_open"] = engine.circuit_open;
  body["fragmentation"] = engine.fragmentation;
  body["cache"] = {{"hit_rate", engine.cache_hit_rate()},
                   {"host_bytes", engine.host_bytes},
                   {"host_bytes_max", engine.host_bytes_max},
                   {"host_entries", engine.host_entries}};
  body["steps"] = engine.steps;
}

// One look at the engine for the body and the head of an answer.
const EngineSnapshot& shown_snapshot(const Service& service, Exchange& exchange) {
  RequestContext& context = *context_of(exchange.ticket());
  context.engine = service.tier().snapshot();
  return *context.engine;
}

// Readiness, with its cause and the load behind it.
Awaitable<void> handle_health(Service& service, Exchange& exchange) {
  const EngineSnapshot& snapshot = shown_snapshot(service, exchange);
  const TimePoint now = service.clock.now();
  service.progress.note(snapshot, now);
  const Health health =
      judge_health({snapshot, service.progress.without_progress(now), service.admission.closed()});
  json::object body;
  body["status"] = health_name(health);
  body["instance"] = service.config.instance.id;
  body["model"] = service.tier().name();
  body["requests_in_flight"] = service.admission.in_flight();
  body["queued"] = snapshot.queued;
  body["prefilling"] = snapshot.prefilling;
  body["decoding"] = snapshot.decoding;
  body["paused"] = snapshot.paused;
  body["kv_cells"] = {{"total", snapshot.cells_total},
                      {"reserved", snapshot.cells_reserved},
                      {"cached", snapshot.cells_cached},
                      {"active", snapshot.cells_active},
                      {"pinned", snapshot.cells_pinned}};
  add_engine_numbers(snapshot, body);
  const bool ready = health == Health::kOk || health == Health::kDegraded;
  co_await respond_json(exchange, ready ? 200 : 503, body);
}

// Liveness: the process answers. A draining server is alive.
Awaitable<void> handle_live(Exchange& exchange) {
  json::object body;
  body["status"] = "alive";
  co_await respond_json(exchange, 200, body);
}

Awaitable<void> handle_root(Service& service, Exchange& exchange) {
  json::object body;
  body["name"] = "zerohop";
  body["version"] = kVersion;
  body["instance"] = service.config.instance.id;
  co_await respond_json(exchange, 200, body);
}

// Where no keys are asked for, all are one tenant.
MetricsView view_of(const Service& service, const Exchange& exchange, ConsoleReach reach) {
  if (reach == ConsoleReach::kAll || !service.keys.asks_for_keys()) return {};
  const RequestContext& context = *context_of(exchange.ticket());
  const std::string& tenant = context.caller.tenant->name;
  const auto& operators = context.live->config.metrics.operator_tenants;
  if (std::ranges::find(operators, tenant) != operators.end()) return {};
  return {tenant};
}

// Written within half a millisecond. To hand a page that short to a worker costs two wake-ups, each
// of them milliseconds while a prefill keeps all cores busy.
constexpr std::size_t kPageBytesAtOnce = std::size_t{256} << 10;

// `page_bytes`: of the last page, of about which length the next one is.
Awaitable<void> handle_metrics(Service& service, Exchange& exchange, ConsoleReach reach,
                               std::size_t& page_bytes) {
  HttpResponse response;
  response.headers.push_back(HeaderField{"content-type", std::string(kPrometheusContentType)});
  // What is copied for it belongs to this thread; writing a long page takes a while.
  service.registry.refresh();
  auto write = [&service, view = view_of(service, exchange, reach)] {
    return service.registry.render(view);
  };
  if (page_bytes <= kPageBytesAtOnce) {
    response.body = write();
  } else {
    response.body = co_await run_on_worker(service.workers, std::move(write));
  }
  page_bytes = response.body.size();
  co_await exchange.respond(std::move(response));
}

// For routers that balance over many instances.
Awaitable<void> handle_inference_extension(Service& service, Exchange& exchange) {
  const InstanceConfig& instance = service.config.instance;
  HttpResponse response;
  response.headers.push_back(HeaderField{"content-type", std::string(kPrometheusContentType)});
  response.body = inference_extension_text({instance.id, instance.pool}, service.tier().name(),
                                           service.tier().snapshot());
  co_await exchange.respond(std::move(response));
}

Awaitable<void> handle_misses(Service& service, Exchange& exchange) {
  // Whose prompts are like whose is nobody else's business.
  const Caller& caller = context_of(exchange.ticket())->caller;
  std::optional<TenantId> tenant;
  if (caller.key != nullptr) tenant = caller.tenant->number;
  HttpResponse response = json_response(200, service.misses.body(tenant));
  co_await exchange.respond(std::move(response));
}

Awaitable<void> handle_system_info(Service& service, Exchange& exchange) {
  HttpResponse response =
      json_response(200, system_info_body(service, shown_snapshot(service, exchange)));
  co_await exchange.respond(std::move(response));
}

// This instance and those that it was told of.
Awaitable<void> handle_instances(Exchange& exchange) {
  const std::shared_ptr<const LiveConfig>& live = context_of(exchange.ticket())->live;
  HttpResponse response = json_response(200, instances_body(live->config.instance));
  co_await exchange.respond(std::move(response));
}

}  // namespace

void add_metrics_route(Router& router, Service& service, ConsoleReach reach) {
  const auto page_bytes = std::make_shared<std::size_t>(0);  // of this thread
  router.add("GET", "/metrics", [&service, reach, page_bytes](Exchange& exchange) {
    return handle_metrics(service, exchange, reach, *page_bytes);
  });
}

void add_operations_routes(Router& router, Service& service) {
  const auto health = [&service](Exchange& exchange) { return handle_health(service, exchange); };
  const auto root = [&service](Exchange& exchange) { return handle_root(service, exchange); };
  for (const char* path : {"/healthz", "/health", "/v1/health"}) router.add("GET", path, health);
  router.add("GET", "/livez", [](Exchange& exchange) { return handle_live(exchange); });
  add_metrics_route(router, service, ConsoleReach::kTenant);
  if (service.config.metrics.inference_extension) {
    router.add("GET", "/metrics/inference-extension", [&service](Exchange& exchange) {
      return handle_inference_extension(service, exchange);
    });
  }
  router.add("GET", "/v1/cache/misses",
             [&service](Exchange& exchange) { return handle_misses(service, exchange); });
  router.add("GET", "/v1/system_info",
             [&service](Exchange& exchange) { return handle_system_info(service, exchange); });
  router.add("GET", "/v1/instances", [](Exchange& exchange) { return handle_instances(exchange); });
  // Coding agents probe these before their first request; the second also behind a doubled `/v1`.
  for (const char* path : {"/", "/api/hello", "/v1/api/hello"}) router.add("GET", path, root);
}

}  // namespace zerohop

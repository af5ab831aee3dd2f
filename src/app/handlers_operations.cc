// Probes and metrics. Cheap enough for a probe per second from a thousand clients: a snapshot is
// copied and a few numbers are printed.

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "app/handlers.h"
#include "app/health.h"
#include "app/json_response.h"
#include "app/version.h"
#include "http/exchange.h"

namespace zerohop {
namespace {

namespace json = boost::json;

Awaitable<void> respond_json(Exchange& exchange, int status, const json::object& body) {
  HttpResponse response = json_response(status, json::serialize(body));
  co_await exchange.respond(std::move(response));
}

// Readiness, with its cause and the load behind it.
Awaitable<void> handle_health(Service& service, Exchange& exchange) {
  const EngineSnapshot snapshot = service.tier().snapshot();
  const Health health = judge_health({snapshot, service.clock.now(), service.admission.closed()});
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
                      {"cached", snapshot.cells_cached}};
  body["steps"] = snapshot.steps;
  co_await respond_json(exchange, health == Health::kOk ? 200 : 503, body);
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

Awaitable<void> handle_metrics(Service& service, Exchange& exchange) {
  HttpResponse response;
  response.headers.push_back(HeaderField{"content-type", std::string(kPrometheusContentType)});
  response.body = service.registry.prometheus_text();
  co_await exchange.respond(std::move(response));
}

}  // namespace

void add_operations_routes(Router& router, Service& service) {
  const auto health = [&service](Exchange& exchange) { return handle_health(service, exchange); };
  const auto root = [&service](Exchange& exchange) { return handle_root(service, exchange); };
  for (const char* path : {"/healthz", "/health", "/v1/health"}) router.add("GET", path, health);
  router.add("GET", "/livez", [](Exchange& exchange) { return handle_live(exchange); });
  router.add("GET", "/metrics",
             [&service](Exchange& exchange) { return handle_metrics(service, exchange); });
  // Coding agents probe these before their first request; the second also behind a doubled `/v1`.
  for (const char* path : {"/", "/api/hello", "/v1/api/hello"}) router.add("GET", path, root);
}

}  // namespace zerohop

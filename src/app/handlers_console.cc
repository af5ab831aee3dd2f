// The console, and what is remembered of requests. A caller with a key sees the requests of its own
// tenant; everybody's are seen where no keys are asked for, and behind the admin token.

#include <memory>
#include <string>
#include <utility>

#include "app/console_data.h"
#include "app/console_page.h"
#include "app/explain_request.h"
#include "app/handlers.h"
#include "app/json_response.h"
#include "app/request_context.h"
#include "app/request_history.h"
#include "http/exchange.h"

namespace zerohop {
namespace {

Awaitable<void> handle_page(Exchange& exchange) {
  HttpResponse response;
  response.headers.push_back(HeaderField{"content-type", "text/html; charset=utf-8"});
  response.headers.push_back(HeaderField{"content-security-policy", std::string(kConsolePolicy)});
  response.headers.push_back(HeaderField{"cache-control", "no-cache"});
  response.headers.push_back(HeaderField{"x-content-type-options", "nosniff"});
  response.body = console_page();
  co_await exchange.respond(std::move(response));
}

ConsoleView view_of(const Service& service, const Exchange& exchange, ConsoleReach reach) {
  if (reach == ConsoleReach::kAll || !service.keys.asks_for_keys()) return nullptr;
  return context_of(exchange.ticket())->caller.tenant;
}

Awaitable<void> handle_data(const Service& service, Exchange& exchange, ConsoleReach reach) {
  const ConsoleView view = view_of(service, exchange, reach);
  HttpResponse response = json_response(200, console_data(service, view));
  co_await exchange.respond(std::move(response));
}

Awaitable<void> handle_requests(const Service& service, Exchange& exchange, ConsoleReach reach) {
  const ConsoleView view = view_of(service, exchange, reach);
  HttpResponse response = json_response(200, requests_body(service, view));
  co_await exchange.respond(std::move(response));
}

// One that belongs to another tenant is as unknown as one that never was.
Awaitable<void> handle_request(const Service& service, Exchange& exchange, ConsoleReach reach) {
  const ConsoleView view = view_of(service, exchange, reach);
  const std::string id = exchange.parameters().get("id");
  const RequestRecord* record = service.history.find(id);
  if (record == nullptr || !shows(view, record->tenant_number)) {
    Error none{ErrorCode::kNotFound,
               "no request '" + id + "' among the last " + std::to_string(RequestHistory::kKept) +
                   " that are over",
               "",
               {}};
    co_await exchange.respond_error(std::move(none));
    co_return;
  }
  HttpResponse response = json_response(200, explanation_body(*record, service.misses.find(id)));
  co_await exchange.respond(std::move(response));
}

}  // namespace

void add_console_routes(Router& router, Service& service, ConsoleReach reach) {
  router.add("GET", "/console", [](Exchange& exchange) { return handle_page(exchange); });
  router.add("GET", "/console/data", [&service, reach](Exchange& exchange) {
    return handle_data(service, exchange, reach);
  });
  router.add("GET", "/v1/requests", [&service, reach](Exchange& exchange) {
    return handle_requests(service, exchange, reach);
  });
  router.add("GET", "/v1/requests/{id}", [&service, reach](Exchange& exchange) {
    return handle_request(service, exchange, reach);
  });
}

}  // namespace zerohop

// GET /v1/models and /v1/models/{id...}.

#include "api/model_list.h"
#include "app/handlers.h"
#include "app/json_response.h"
#include "app/request_context.h"
#include "http/exchange.h"
#include "http/url.h"

namespace zerohop {
namespace {

Awaitable<void> answer(Exchange& exchange, Result<std::string> body) {
  if (!body.ok()) {
    co_await exchange.respond_error(std::move(body).error());
    co_return;
  }
  HttpResponse response = json_response(200, std::move(body).value());
  co_await exchange.respond(std::move(response));
}

// Those that the tenant may use.
std::vector<ModelDescription> models_of(const Service& service, const Exchange& exchange) {
  const RequestContext& context = *context_of(exchange.ticket());
  const TenantRecord& tenant = *context.caller.tenant;
  const bool all = may_use_model(tenant, service.tier().name());
  std::vector<ModelDescription> models;
  for (const ModelDescription& model : context.live->models) {
    if (all || may_use_model(tenant, model.id)) models.push_back(model);
  }
  return models;
}

Awaitable<void> handle_list(Service& service, Exchange& exchange) {
  const std::string& query = exchange.request().head.query;
  ModelPageQuery page;
  page.limit = query_parameter(query, "limit");
  page.after_id = query_parameter(query, "after_id");
  page.before_id = query_parameter(query, "before_id");
  page.lifecycle = query_parameter(query, "lifecycle");
  Result<std::string> body = model_list_body(models_of(service, exchange), page);
  co_await answer(exchange, std::move(body));
}

Awaitable<void> handle_one(Service& service, Exchange& exchange) {
  Result<std::string> body =
      model_body(models_of(service, exchange), exchange.parameters().get("id"));
  co_await answer(exchange, std::move(body));
}

}  // namespace

void add_model_routes(Router& router, Service& service) {
  const auto list = [&service](Exchange& exchange) { return handle_list(service, exchange); };
  const auto one = [&service](Exchange& exchange) { return handle_one(service, exchange); };
  for (const std::string prefix : kApiPrefixes) {
    router.add("GET", prefix + "/models", list);
    router.add("GET", prefix + "/models/{id...}", one);
  }
}

}  // namespace zerohop

#include "app/request_context.h"

#include <utility>

#include "app/ids.h"
#include "app/service.h"

namespace zerohop {

std::shared_ptr<RequestContext> make_request_context(const Service& service) {
  auto context = std::make_shared<RequestContext>(service.clock.now(), service.live.get());
  context->request_id = make_id("req_");
  if (service.keys.asks_for_keys()) context->caller.tenant = &unknown_tenant();
  return context;
}

RequestContext* context_of(const std::shared_ptr<void>& ticket) {
  return static_cast<RequestContext*>(ticket.get());
}

Awaitable<void> refuse_request(Service& service, Exchange& exchange, Error error) {
  RequestContext& context = *context_of(exchange.ticket());
  service.metrics.count_refusal(error.code);
  context.notes.failure = error;
  if (context.permit.held()) context.life.advance(RequestState::kFailed, service.clock.now());
  co_await exchange.respond_error(std::move(error));
}

}  // namespace zerohop

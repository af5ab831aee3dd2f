// POST /v1/messages, streamed and whole, and /v1/messages/count_tokens.

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/anthropic_reply.h"
#include "app/document_text.h"
#include "app/generation_call.h"
#include "app/handlers.h"
#include "app/json_response.h"
#include "app/messages_call.h"
#include "app/request_context.h"
#include "app/request_tenant.h"
#include "app/worker_pool.h"
#include "http/exchange.h"

namespace zerohop {
namespace {

Awaitable<void> handle_messages(Service& service, Exchange& exchange) {
  RequestContext& context = *context_of(exchange.ticket());
  const Headers& fields = exchange.request().head.headers;
  MessagesHead head;
  head.profile = context.profile;
  head.request_id = context.request_id;
  const auto wanted = fields.find("anthropic-stream-profile");
  if (wanted) head.stream_profile = parse_stream_profile(*wanted);
  if (!fields.contains("anthropic-version")) {
    // The exchange waits meanwhile, so nobody else looks at its context.
    head.on_body_version = [&context](const WireProfile& profile) { context.profile = &profile; };
  }
  auto call =
      make_messages_call({service, context.live, class_of(context.caller)}, std::move(head));
  co_await run_generation(service, exchange, std::move(call));
}

Result<void> read_count_call(const CallScope& scope, const RequestContext& context,
                             std::string_view body, ChatRequest& request) {
  ZH_ASSIGN_OR_RETURN(request, parse_count_call(scope, *context.profile, body));
  return check_model(scope, *context.caller.tenant, request.model);
}

Awaitable<Result<std::uint32_t>> parse_and_count(Service& service, Exchange& exchange) {
  const RequestContext& context = *context_of(exchange.ticket());
  CallScope scope{service, context.live};
  using Count = std::optional<Result<std::uint32_t>>;  // nothing: documents come first
  ChatRequest request;
  const std::string body = exchange.take_body();
  const bool at_once = body.size() <= kBodyAtOnceMax;
  if (at_once) {
    const Result<void> readable = read_count_call(scope, context, body, request);
    if (!readable.ok()) co_return readable.error();
    if (const auto known = recall_prompt_tokens(scope, request)) co_return *known;
  }
  auto all = [&scope, &context, &body, &request, at_once]() -> Count {
    const Result<void> readable =
        at_once ? Result<void>() : read_count_call(scope, context, body, request);
    if (!readable.ok()) return readable.error();
    if (has_unread_documents(request.conversation)) return std::nullopt;
    return count_prompt_tokens(scope, request);
  };
  Count count = co_await run_on_worker(service.workers, std::move(all));
  if (count) co_return std::move(*count);
  const Result<void> read = co_await read_documents_of(scope, request.conversation);
  if (!read.ok()) co_return read.error();
  auto rest = [&scope, &request] { return count_prompt_tokens(scope, request); };
  co_return co_await run_on_worker(service.workers, std::move(rest));
}

Awaitable<void> handle_count_tokens(Service& service, Exchange& exchange) {
  RequestContext& context = *context_of(exchange.ticket());
  context.life.advance(RequestState::kValidating, service.clock.now());
  Result<std::uint32_t> count = co_await parse_and_count(service, exchange);
  if (!count.ok()) {
    co_await refuse_request(service, exchange, std::move(count).error());
    co_return;
  }
  HttpResponse response = json_response(200, count_tokens_body(*count));
  co_await exchange.respond(std::move(response));
  context.life.advance(RequestState::kDone, service.clock.now());
}

}  // namespace

void add_messages_routes(Router& router, Service& service) {
  const auto messages = [&service](Exchange& exchange) {
    return handle_messages(service, exchange);
  };
  const auto count = [&service](Exchange& exchange) {
    return handle_count_tokens(service, exchange);
  };
  for (const std::string prefix : kApiPrefixes) {
    router.add("POST", prefix + "/messages", messages);
    router.add("POST", prefix + "/messages/count_tokens", count);
  }
}

}  // namespace zerohop

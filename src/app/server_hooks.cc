#include "app/server_hooks.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "api/error_body.h"
#include "api/openai_error_body.h"
#include "app/handlers.h"
#include "app/json_response.h"
#include "app/kernel_status.h"
#include "app/queue_door.h"
#include "app/request_context.h"
#include "app/request_end.h"
#include "app/request_tenant.h"
#include "base/log.h"

namespace zerohop {
namespace {

constexpr std::string_view kClientIdHeader = "x-anthropic-request-id";
constexpr std::size_t kClientIdBytesMax = 128;

// The error body in the dialect of the path.
HttpResponse error_response(Service& service, const RequestHead* head,
                            const RequestContext& context, Error error) {
  tell_when_to_come_back(service, error);
  if (head != nullptr) note_refused(service, *head, context, error);
  const bool openai = head != nullptr && is_openai_path(head->path);
  const int status = error.code == ErrorCode::kOverloaded ? overload_status(head, context)
                                                          : error_traits(error.code).status;
  HttpResponse response = json_response(
      status, openai ? openai_error_body(error) : anthropic_error_body(error, context.request_id));
  for (auto& [name, value] : error_headers(error)) {
    response.headers.push_back(HeaderField{std::string(name), std::move(value)});
  }
  // RFC 9110, section 11.6.1.
  if (error.code == ErrorCode::kAuthentication) {
    response.headers.push_back(HeaderField{"www-authenticate", "Bearer"});
  }
  return response;
}

// Only POST bodies make work; probes and lists must answer also when all permits are out.
bool costs_a_permit(const RequestHead& head) { return head.method == "POST"; }

Result<void> check_head(const Service& service, const RequestHead& head,
                        const RequestContext& context) {
  // A pool that is exclusive keeps its work to itself; lists and probes are for everybody.
  const std::string_view pool =
      costs_a_permit(head) ? context.caller.tenant->pool : service.config.instance.pool;
  ZH_RETURN_IF_ERROR(context.live->identity.check(head.headers, pool));
  const auto encoding = head.headers.find("content-encoding");
  if (encoding && !equals_ignoring_case(*encoding, "identity")) {
    return Error{ErrorCode::kUnsupportedEncoding,
                 "request bodies must not be compressed (Content-Encoding)",
                 "",
                 {}};
  }
  return {};
}

constexpr std::string_view kVersionHeader = "anthropic-version";

// A label of few values, whatever strangers send.
std::string_view version_label(std::string_view version) {
  if (version.empty()) return "none";
  for (const std::string_view known : {"2023-06-01", "2026-10-21"}) {
    if (version == known) return known;
  }
  for (const std::string_view vendor : {"vertex-", "bedrock-"}) {
    if (version.starts_with(vendor)) return vendor.substr(0, vendor.size() - 1);
  }
  return "other";
}

void choose_profile(Service& service, const RequestHead& head, RequestContext& context) {
  if (is_openai_path(head.path) || !costs_a_permit(head)) return;
  const std::string_view version = head.headers.find(kVersionHeader).value_or("");
  context.profile = &context.live->wire_profiles.find(version);
  const std::string& applied = context.profile->name;
  service.metrics.count_api_version(version_label(version), applied.empty() ? "none" : applied);
}

// A tenant that asks for less than its share is taken while others are not.
Result<void> check_shedding(const Service& service, const RequestHead& head,
                            RequestContext& context) {
  const PressureCause cause =
      service.tier().loop().sheds(context.tenant.tenant, best_class(context.tenant, head.path));
  if (cause == PressureCause::kNone) return {};
  context.engine = service.tier().snapshot();
  const std::chrono::milliseconds objective(service.config.engine.itl_objective_ms);
  return check_pressure(*context.engine, cause, objective);
}

Result<void> identify(Service& service, const RequestHead& head, RequestContext& context) {
  ZH_ASSIGN_OR_RETURN(context.caller, service.keys.check(head));
  return {};
}

Result<void> admit(Service& service, RequestContext& context) {
  ZH_ASSIGN_OR_RETURN(context.limit, service.limits.enter(context.caller));
  Result<Permit> permit = service.admission.admit();
  if (!permit.ok()) {
    Error error = std::move(permit).error();
    if (error.code == ErrorCode::kOverloaded) advise_by_queue(service, error);
    return error;
  }
  context.permit = std::move(permit).value();
  return {};
}

void note_gateways(Service& service, const RequestHead& head) {
  const GatewaySet seen = gateways_of(head.headers);
  if (seen == 0) return;
  for_each_gateway(
      seen, [&service](Gateway gateway) { service.metrics.count_gateway(gateway_name(gateway)); });
  for_each_gateway(service.gateways.note(seen, service.clock.now()), [](Gateway gateway) {
    log_warning("a gateway seems to stand in front of this server",
                {{"gateway", std::string(gateway_name(gateway))}});
  });
}

HttpResponse refuse(Service& service, const RequestHead& head, RequestContext& context,
                    Error error) {
  service.metrics.count_refusal(error.code);
  context.notes.failure = error;
  context.life.advance(RequestState::kFailed, service.clock.now());
  return error_response(service, &head, context, std::move(error));
}

// Also where nothing answers to the path: that costs its address a request as well.
std::optional<HttpResponse> on_request(Service& service, const RequestHead& head,
                                       std::shared_ptr<void>& ticket) {
  std::shared_ptr<RequestContext> context = make_request_context(service);
  ticket = context;
  context->trace = service.tracing.begin(head);
  note_gateways(service, head);
  const Result<void> checked = service.addresses.take_request(head.peer, service.clock.now());
  if (checked.ok()) return std::nullopt;
  return refuse(service, head, *context, checked.error());
}

std::optional<HttpResponse> on_head(Service& service, const RequestHead& head,
                                    std::shared_ptr<void>& ticket) {
  if (!ticket) ticket = make_request_context(service);
  const auto context = std::static_pointer_cast<RequestContext>(ticket);
  Result<void> checked = identify(service, head, *context);
  if (checked.ok()) checked = check_head(service, head, *context);
  if (checked.ok() && costs_a_permit(head)) {
    context->tenant = tenant_of(context->live->config, context->caller, head.headers);
    checked = check_queue_at_head(service, head, *context);
    if (checked.ok()) checked = check_shedding(service, head, *context);
    if (checked.ok()) checked = admit(service, *context);
    if (checked.ok()) service.live_requests.add(context, head.path);
  }
  if (!checked.ok()) return refuse(service, head, *context, checked.error());
  choose_profile(service, head, *context);
  context->life.advance(RequestState::kReceiving, service.clock.now());
  return std::nullopt;
}

RequestContext& ensure_context(Service& service, const ExchangeContext& exchange) {
  if (!exchange.ticket) exchange.ticket = make_request_context(service);
  return *context_of(exchange.ticket);
}

// A client's own id is echoed when it cannot be mistaken for anything else in a log or a header.
bool echoable(std::string_view id) {
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == '.' || c == ':';
  };
  return !id.empty() && id.size() <= kClientIdBytesMax && std::all_of(id.begin(), id.end(), plain);
}

void append_limits(Service& service, const RequestHead& request, const RequestContext& context,
                   ResponseHead& head) {
  // Who has not shown a good key belongs to no tenant, and is told of none.
  if (context.caller.key == nullptr && service.keys.asks_for_keys()) return;
  using Dialect = LimitService::HeaderDialect;
  const Dialect dialect = is_openai_path(request.path) ? Dialect::kOpenAi : Dialect::kAnthropic;
  service.limits.append_headers(context.caller, dialect, head.headers);
  const std::optional<LimitGrant> grant = context.granted ? context.granted : context.limit.grant();
  if (!grant || !grant->lowered_by) return;
  head.headers.push_back(
      HeaderField{"anthropic-limit-applied", limit_name_text(*grant->lowered_by)});
  head.headers.push_back(
      HeaderField{"anthropic-limit-output-tokens", std::to_string(grant->output_cap)});
}

// So that a client finds this request in the traces and in the log.
void append_trace(const RequestTrace& trace, ResponseHead& head) {
  if (!trace.valid()) return;
  head.headers.push_back(HeaderField{"traceparent", trace.traceparent()});
  if (!trace.state.empty()) head.headers.push_back(HeaderField{"tracestate", trace.state});
}

void decorate(Service& service, const ExchangeContext& exchange, ResponseHead& head) {
  const RequestContext& context = ensure_context(service, exchange);
  const Duration spent = service.clock.now() - exchange.received_at;
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(spent).count();
  head.headers.push_back(HeaderField{"request-id", context.request_id});
  head.headers.push_back(HeaderField{"anthropic-request-id", context.request_id});
  append_trace(context.trace, head);
  for (const HeaderField& field : context.live->identity.reply_headers()) {
    head.headers.push_back(field);
  }
  head.headers.push_back(HeaderField{"anthropic-processing-time-ms", std::to_string(milliseconds)});
  if (context.profile != nullptr && !context.profile->name.empty()) {
    head.headers.push_back(HeaderField{"anthropic-version-profile", context.profile->name});
  }
  if (context.soft_max_tokens != 0) {
    head.headers.push_back(
        HeaderField{"anthropic-effective-max-tokens", std::to_string(context.soft_max_tokens)});
  }
  if (!context.constraint_relaxed.empty()) {
    head.headers.push_back(
        HeaderField{"anthropic-kernel-constraint-relaxed", context.constraint_relaxed});
  }
  if (exchange.head != nullptr && costs_a_permit(*exchange.head)) {
    append_limits(service, *exchange.head, context, head);
  }
  std::optional<EngineSnapshot> engine = context.engine;
  if (!engine && service.loaded_tier) engine = service.tier().snapshot();
  if (engine) {
    service.progress.note(*engine, service.clock.now());
    if (auto status = kernel_status(*engine)) {
      head.headers.push_back(HeaderField{kKernelStatusHeader, *std::move(status)});
    }
  }
  if (exchange.head == nullptr) return;
  if (head.status == error_traits(ErrorCode::kWrongInstance).status) {
    const auto pin = exchange.head->headers.find(kInstanceHeader);
    if (auto address = pin ? context.live->identity.address_of(*pin) : std::nullopt) {
      head.headers.push_back(HeaderField{std::string(kInstanceAddressHeader), *std::move(address)});
    }
  }
  const auto client_id = exchange.head->headers.find(kClientIdHeader);
  if (client_id && echoable(*client_id)) {
    head.headers.push_back(HeaderField{std::string(kClientIdHeader), std::string(*client_id)});
  }
}

// A request that ended outside its handler: a body that never came whole, or was too large.
void settle_state(const Service& service, const ExchangeSummary& summary) {
  RequestContext* context = context_of(summary.ticket);
  if (context == nullptr || !context->permit.held() || is_final(context->life.state())) return;
  const bool answered = summary.end == ExchangeEnd::kCompleted;
  context->life.advance(answered ? RequestState::kFailed : RequestState::kCancelled,
                        service.clock.now());
}

// A request that never came to an answer stays counted where its client was wrong; where the server
// had no room for it, it is as if it had not been.
void settle_limit(const Service& service, const ExchangeSummary& summary) {
  RequestContext* context = context_of(summary.ticket);
  if (context == nullptr || !context->limit.held()) return;
  if (summary.status == 0) return context->limit.release();
  service.limits.settle_unanswered(context->limit, summary.status);
}

}  // namespace

ServerHooks make_server_hooks(Service& service) {
  ServerHooks hooks;
  hooks.on_connection = [&service](const IpAddress& peer, std::shared_ptr<void>& ticket) {
    std::optional<AddressConnection> connection = service.addresses.connect(peer);
    if (!connection) return false;
    ticket = std::make_shared<AddressConnection>(*std::move(connection));
    return true;
  };
  hooks.on_request = [&service](const RequestHead& head, std::shared_ptr<void>& ticket) {
    return on_request(service, head, ticket);
  };
  hooks.on_head = [&service](const RequestHead& head, std::shared_ptr<void>& ticket) {
    return on_head(service, head, ticket);
  };
  hooks.error_response = [&service](const ExchangeContext& exchange, const Error& error) {
    RequestContext& context = ensure_context(service, exchange);
    context.notes.failure = error;
    return error_response(service, exchange.head, context, error);
  };
  hooks.decorate = [&service](const ExchangeContext& exchange, ResponseHead& head) {
    decorate(service, exchange, head);
  };
  hooks.on_done = [&service](const ExchangeSummary& summary) {
    settle_state(service, summary);
    settle_limit(service, summary);
    service.metrics.count_http_request(summary.route.empty() ? "none" : summary.route,
                                       summary.status);
    finish_request(service, summary);
  };
  return hooks;
}

}  // namespace zerohop

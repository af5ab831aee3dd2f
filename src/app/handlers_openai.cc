// The OpenAI dialect: POST /v1/chat/completions, /v1/completions, /v1/responses.

#include <algorithm>
#include <array>
#include <utility>

#include "app/generation_call.h"
#include "app/handlers.h"
#include "app/openai_calls.h"
#include "app/request_context.h"
#include "app/request_tenant.h"
#include "http/exchange.h"

namespace zerohop {
namespace {

constexpr std::array<std::string_view, 4> kPaths{"/chat/completions", "/completions", "/responses",
                                                 "/embeddings"};

using MakeCall = std::unique_ptr<DialectCall> (*)(CallScope scope);

Handler generation_handler(Service& service, MakeCall make_call) {
  return [&service, make_call](Exchange& exchange) {
    const RequestContext& context = *context_of(exchange.ticket());
    return run_generation(service, exchange,
                          make_call({service, context.live, class_of(context.caller)}));
  };
}

}  // namespace

bool is_openai_path(std::string_view path) {
  return std::ranges::any_of(kApiPrefixes, [path](std::string_view prefix) {
    return path.starts_with(prefix) &&
           std::ranges::find(kPaths, path.substr(prefix.size())) != kPaths.end();
  });
}

void add_openai_routes(Router& router, Service& service) {
  for (const std::string prefix : kApiPrefixes) {
    router.add("POST", prefix + "/chat/completions",
               generation_handler(service, make_chat_completions_call));
    router.add("POST", prefix + "/completions", generation_handler(service, make_completions_call));
    router.add("POST", prefix + "/responses", generation_handler(service, make_responses_call));
  }
}

}  // namespace zerohop

// The OpenAI dialect: POST /v1/chat/completions, /v1/completions, /v1/responses.

#include <array>
#include <utility>

#include "app/generation_call.h"
#include "app/handlers.h"
#include "app/openai_calls.h"
#include "http/exchange.h"

namespace zerohop {
namespace {

constexpr std::array<std::string_view, 4> kPaths{"/chat/completions", "/completions", "/responses",
                                                 "/embeddings"};

using MakeCall = std::unique_ptr<DialectCall> (*)(Service& service);

Handler generation_handler(Service& service, MakeCall make_call) {
  return [&service, make_call](Exchange& exchange) {
    return run_generation(service, exchange, make_call(service));
  };
}

}  // namespace

bool is_openai_path(std::string_view path) {
  for (const std::string_view prefix : {"/v1", "/v1"}) {
    if (path.starts_with(prefix)) path.remove_prefix(prefix.size());
  }
  for (const std::string_view known : kPaths) {
    if (path == known) return true;
  }
  return false;
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

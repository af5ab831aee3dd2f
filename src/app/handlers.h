// The endpoints. Each function adds its routes; `service` outlives the router. Handlers run as part
// of a session's coroutine on the I/O thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "app/service.h"
#include "http/router.h"

namespace zerohop {

/// What real base URLs lead to: `/v1`, `/v1` written twice, or left out.
inline constexpr std::array<const char*, 3> kApiPrefixes{"/v1", "/v1/v1", ""};

/// Whether `path` belongs to the OpenAI dialect: its errors have that dialect's shape.
bool is_openai_path(std::string_view path);

/// POST /v1/chat/completions, /v1/completions and /v1/responses.
void add_openai_routes(Router& router, Service& service);

/// POST /v1/embeddings.
void add_embeddings_routes(Router& router, Service& service);

/// POST /v1/messages and /v1/messages/count_tokens.
void add_messages_routes(Router& router, Service& service);

/// POST and GET /v1/messages/batches; GET and DELETE …/{id}; POST …/{id}/cancel; GET
/// …/{id}/results.
void add_batch_routes(Router& router, Service& service);

/// GET /v1/models and /v1/models/{id...}.
void add_model_routes(Router& router, Service& service);

/// Whose requests an answer may tell of: the caller's tenant's, or everybody's.
enum class ConsoleReach : std::uint8_t { kTenant, kAll };

/// GET /console (a page), /console/data, /v1/requests and /v1/requests/{id}.
void add_console_routes(Router& router, Service& service, ConsoleReach reach);

/// GET /metrics: everything for operators, for a tenant its own series and the instance's.
void add_metrics_route(Router& router, Service& service, ConsoleReach reach);

/// GET /healthz, /livez, /health, /, /metrics, /v1/system_info, /v1/cache/misses, HEAD /api/hello.
void add_operations_routes(Router& router, Service& service);

}  // namespace zerohop

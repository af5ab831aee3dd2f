// The part of the metric table that is about the door: connections, requests, keys, tenants.
#include <array>

#include "telemetry/metric_table_parts.h"

namespace zerohop {
namespace {

constexpr std::array kTable{
    MetricSpec{"zerohop_build_info",
               kGauge,
               MetricUnit::kNone,
               {"version", "libllama"},
               "Always 1; the labels name the versions of the program and of the model library."},

    // The door.
    MetricSpec{"zerohop_http_requests_total",
               kCounter,
               MetricUnit::kNone,
               {"route", "status"},
               "HTTP requests answered, by route and status."},
    MetricSpec{
        "zerohop_http_connections", kGauge, MetricUnit::kNone, {}, "Open client connections."},
    MetricSpec{"zerohop_http_connections_refused_total",
               kCounter,
               MetricUnit::kNone,
               {"cause"},
               "Connections closed before their first request: too many in all (limit) or of one "
               "address (address), a PROXY header that is malformed, missing or not believed "
               "(proxy), no handshake (tls)."},
    MetricSpec{"zerohop_tls_handshakes_total",
               kCounter,
               MetricUnit::kNone,
               {"kind"},
               "TLS handshakes that succeeded, by whether they went on with an old session (full, "
               "resumed)."},
    MetricSpec{"zerohop_tls_certificate_expires_at",
               kGauge,
               MetricUnit::kNone,
               {},
               "When the server's certificate expires, in seconds since 1970."},
    MetricSpec{"zerohop_tls_reloads_total",
               kCounter,
               MetricUnit::kNone,
               {"result"},
               "Times that the files of the certificate were read again: the new one was taken "
               "(taken), or did not fit and the old one stayed (failed)."},
    MetricSpec{"zerohop_gateway_requests_total",
               kCounter,
               MetricUnit::kNone,
               {"gateway"},
               "Requests with marks of a gateway or proxy in front of this server, by which one it "
               "seems to be; other: a Via or forwarding header that names none."},
    MetricSpec{"zerohop_requests_in_flight",
               kGauge,
               MetricUnit::kNone,
               {},
               "Model requests in the system, from the head to the last byte of the answer."},
    MetricSpec{"zerohop_refusals_total",
               kCounter,
               MetricUnit::kNone,
               {"cause"},
               "Model requests that were refused or failed, by error code."},
    MetricSpec{"zerohop_cancellations_total",
               kCounter,
               MetricUnit::kNone,
               {"phase"},
               "Requests whose client went away, by how far the work had come."},

    // Keys and tenants.
    MetricSpec{"zerohop_auth_failures_total",
               kCounter,
               MetricUnit::kNone,
               {"reason"},
               "Requests without a good API key: missing, malformed, unknown, revoked or expired."},
    MetricSpec{"zerohop_keys",
               kGauge,
               MetricUnit::kNone,
               {},
               "API keys that are known, revoked and expired ones included."},
    MetricSpec{"zerohop_config_reloads_total",
               kCounter,
               MetricUnit::kNone,
               {"outcome"},
               "Times that the configuration was read again: other values came into force "
               "(applied), nothing had changed that can change while the server runs (unchanged), "
               "or it was wrong and the old one stayed (failed)."},
    MetricSpec{"zerohop_key_reloads_total",
               kCounter,
               MetricUnit::kNone,
               {"outcome"},
               "Times that the key store was read after a change (done), or could not be, so that "
               "the keys known before stayed in force (failed)."},
    MetricSpec{"zerohop_tenant_requests_total",
               kCounter,
               MetricUnit::kNone,
               {"tenant", "status"},
               "Model requests by tenant and class of status (2xx, 4xx, 5xx; none: no answer). The "
               "tenants beyond the most series of a family are counted together; whoever showed no "
               "good key where one is asked for is of tenant (unknown)."},
    MetricSpec{"zerohop_tenant_tokens_total",
               kCounter,
               MetricUnit::kTokens,
               {"tenant", "kind"},
               "Tokens by tenant: of prompts, computed (input) and found in the cache (cached), "
               "and of answers (output)."},
    MetricSpec{"zerohop_tenant_cost_microdollars_total",
               kCounter,
               MetricUnit::kNone,
               {"tenant"},
               "What the requests of a tenant cost by the configured prices, in millionths of a "
               "dollar: what its budgets are charged."},

    // What is exported to a collector.
    MetricSpec{"zerohop_otlp_exports_total",
               kCounter,
               MetricUnit::kNone,
               {"signal", "result"},
               "Attempts to send traces or metrics to the collector: taken (ok), taken in part "
               "(partial), refused for good (refused), to be sent again (retry), or without an "
               "answer that can be used (unreachable). Absent while otlp.endpoint is empty."},
    MetricSpec{"zerohop_otlp_spans_dropped_total",
               kCounter,
               MetricUnit::kNone,
               {"cause"},
               "Spans, those of a request's phases counted like its own, that never reached the "
               "collector: more than otlp.spans_max requests were waiting (queue_full), it refused "
               "them (refused), it was tried for too long (given_up), or the server ended first "
               "(shutdown). Absent while otlp.endpoint is empty."},

    MetricSpec{"zerohop_api_versions_total",
               kCounter,
               MetricUnit::kNone,
               {"requested", "applied"},
               "Messages requests by the anthropic-version they named (known ones, none, other) "
               "and the profile that was applied."},
};

}  // namespace

std::span<const MetricSpec> service_metric_specs() { return kTable; }

}  // namespace zerohop

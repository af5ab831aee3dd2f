#include "telemetry/metric_table.h"

#include <algorithm>

namespace zerohop {
namespace {

constexpr MetricKind kCounter = MetricKind::kCounter;
constexpr MetricKind kGauge = MetricKind::kGauge;
constexpr MetricKind kHistogram = MetricKind::kHistogram;

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

    // Keys.
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
    MetricSpec{"zerohop_key_reloads_total",
               kCounter,
               MetricUnit::kNone,
               {"outcome"},
               "Times that the key store was read after a change (done), or could not be, so that "
               "the keys known before stayed in force (failed)."},

    MetricSpec{"zerohop_api_versions_total",
               kCounter,
               MetricUnit::kNone,
               {"requested", "applied"},
               "Messages requests by the anthropic-version they named (known ones, none, other) "
               "and the profile that was applied."},

    // Constraints: what is compiled for requests.
    MetricSpec{"zerohop_constraint_compile_seconds",
               kHistogram,
               MetricUnit::kSeconds,
               {},
               "Time to compile the constraint of a request that was not in the cache."},
    MetricSpec{"zerohop_constraint_requests_total",
               kCounter,
               MetricUnit::kNone,
               {"cache"},
               "Requests with a constraint, by whether it was in the cache (hit, miss)."},
    MetricSpec{"zerohop_constraint_refusals_total",
               kCounter,
               MetricUnit::kNone,
               {"kind", "keyword"},
               "Schemas that could not be enforced as they are (invalid, unsupported, "
               "unsatisfiable, too_large), by keyword; other: none of JSON Schema's own."},
    MetricSpec{
        "zerohop_constraint_relaxed_total",
        kCounter,
        MetricUnit::kNone,
        {},
        "Requests with schemas that could not be enforced and were relaxed; their replies say "
        "so."},

    // Constraints: how they are followed.
    MetricSpec{"zerohop_constraint_tokens_total",
               kCounter,
               MetricUnit::kTokens,
               {"event"},
               "Sampled tokens of constrained answers: looked at (checked), of these not allowed, "
               "so that the legal ones had to be found (missed), draws among these behind which "
               "too few tokens were left (redrawn), draws of which only the shortest end was left "
               "(closing). And tokens that were not sampled because nothing else was possible "
               "(forced)."},
    MetricSpec{"zerohop_constraint_answers_total",
               kCounter,
               MetricUnit::kNone,
               {"outcome"},
               "Constrained answers that were brought to their end for want of tokens "
               "(closed_early), and requests whose shortest answer did not fit (refused)."},
    MetricSpec{"zerohop_constraint_legal_mass",
               kGauge,
               MetricUnit::kRatio,
               {},
               "How likely the model found a legal token where it drew one that was not: mean "
               "since the start."},
    MetricSpec{"zerohop_constraint_masks_total",
               kCounter,
               MetricUnit::kNone,
               {"cache"},
               "Sets of legal tokens that were needed, by whether they were in the cache (hit) or "
               "had to be found (miss)."},
    MetricSpec{"zerohop_constraint_mask_microseconds_total",
               kCounter,
               MetricUnit::kNone,
               {},
               "Microseconds spent on finding such sets that were not in the cache."},
    MetricSpec{"zerohop_constraint_mask_microseconds_max",
               kGauge,
               MetricUnit::kNone,
               {},
               "Microseconds that the most expensive one took."},
    MetricSpec{"zerohop_constraint_machines",
               kGauge,
               MetricUnit::kNone,
               {},
               "Different constraints that the engine follows or keeps for the next request."},
    MetricSpec{"zerohop_constraint_bytes",
               kGauge,
               MetricUnit::kBytes,
               {"kind"},
               "Memory of the engine for constraints: masks, and the tables of machines."},

    MetricSpec{"zerohop_prompt_rewrites_total",
               kCounter,
               MetricUnit::kNone,
               {"rule"},
               "Pieces of system prompts that were left out (billing_header) or moved to the end "
               "of the prompt (a pattern of prompt.volatile), so that prefixes stay the same."},

    // Latency as a client sees it.
    MetricSpec{"zerohop_queue_seconds",
               kHistogram,
               MetricUnit::kSeconds,
               {},
               "From the engine's acceptance of a request to its place in a batch."},
    MetricSpec{"zerohop_ttft_seconds",
               kHistogram,
               MetricUnit::kSeconds,
               {},
               "Time to first token: from the end of the request's head to the first text."},
    MetricSpec{"zerohop_itl_seconds",
               kHistogram,
               MetricUnit::kSeconds,
               {},
               "Inter-token latency: between two successive bursts of text of one answer."},
    MetricSpec{"zerohop_e2e_seconds",
               kHistogram,
               MetricUnit::kSeconds,
               {},
               "From the end of the request's head to the last byte of the answer."},

    // Tokens.
    MetricSpec{"zerohop_prompt_tokens_total",
               kCounter,
               MetricUnit::kTokens,
               {},
               "Prompt tokens of all requests, those found in the cache included."},
    MetricSpec{"zerohop_prompt_tokens_cached_total",
               kCounter,
               MetricUnit::kTokens,
               {},
               "Prompt tokens found in the KV cache instead of being computed."},
    MetricSpec{
        "zerohop_output_tokens_total", kCounter, MetricUnit::kTokens, {}, "Tokens generated."},
    MetricSpec{
        "zerohop_tokens_charged_total",
        kCounter,
        MetricUnit::kTokens,
        {},
        "Tokens computed for tenants, by which turns are given: each counts once, also where "
        "a parked request had to compute it again."},

    // The engine.
    MetricSpec{"zerohop_engine_steps_total",
               kCounter,
               MetricUnit::kNone,
               {},
               "Forward passes of the step loop."},
    MetricSpec{"zerohop_engine_threads",
               kGauge,
               MetricUnit::kNone,
               {},
               "Threads that compute: fewer while other processes take the cores."},
    MetricSpec{"zerohop_engine_thread_changes_total",
               kCounter,
               MetricUnit::kNone,
               {},
               "Steps that were computed with another number of threads than the one before."},
    MetricSpec{"zerohop_engine_steps_outrun_total",
               kCounter,
               MetricUnit::kNone,
               {},
               "Steps that were stopped far beyond their expected time, or as probes that did not "
               "pay, and computed again with fewer threads."},
    MetricSpec{"zerohop_engine_step_seconds",
               kHistogram,
               MetricUnit::kSeconds,
               {},
               "Duration of one step of the loop."},
    MetricSpec{"zerohop_engine_queued",
               kGauge,
               MetricUnit::kNone,
               {},
               "Requests that wait for a sequence or for cells."},
    MetricSpec{"zerohop_engine_prefilling",
               kGauge,
               MetricUnit::kNone,
               {},
               "Sequences whose prompt is being computed."},
    MetricSpec{
        "zerohop_engine_decoding", kGauge, MetricUnit::kNone, {}, "Sequences that generate."},
    MetricSpec{"zerohop_engine_paused",
               kGauge,
               MetricUnit::kNone,
               {},
               "Sequences held back because their reader is too slow."},
    MetricSpec{"zerohop_kv_cells",
               kGauge,
               MetricUnit::kCells,
               {"state"},
               "Cells of the KV cache: active (held by running sequences), reserved (promised to "
               "them), cached for reuse, those of the cached ones that are never evicted (pinned), "
               "free."},

    MetricSpec{"zerohop_engine_parked",
               kGauge,
               MetricUnit::kNone,
               {},
               "Requests that were started, gave their place to others and wait to go on."},
    MetricSpec{"zerohop_parks_total",
               kCounter,
               MetricUnit::kNone,
               {"reason"},
               "Running requests that gave their place away: for cells, for fairness, or because "
               "their reader is too slow."},
    MetricSpec{
        "zerohop_resumes_total", kCounter, MetricUnit::kNone, {}, "Parked requests that went on."},
    MetricSpec{"zerohop_deadlines_refused_total",
               kCounter,
               MetricUnit::kNone,
               {},
               "Requests that the engine gave up because their deadline could not be met."},
    MetricSpec{"zerohop_soft_max_tokens_total",
               kCounter,
               MetricUnit::kNone,
               {},
               "Answers that were made shorter while cells were scarce."},
    MetricSpec{"zerohop_compactions_total",
               kCounter,
               MetricUnit::kNone,
               {},
               "Times that scattered cells were moved together."},

    // The prefix cache.
    MetricSpec{"zerohop_cache_misses_total",
               kCounter,
               MetricUnit::kNone,
               {"cause"},
               "Prompts of which less was found than one would have hoped, by cause."},
    MetricSpec{"zerohop_cache_missed_tokens_total",
               kCounter,
               MetricUnit::kTokens,
               {"cause"},
               "Tokens that would have been found otherwise, by cause."},
    MetricSpec{
        "zerohop_cache_tokens_total",
        kCounter,
        MetricUnit::kTokens,
        {"event"},
        "Cached tokens that left the cells (evicted), those of them that went to host memory "
        "(saved), came back from there (restored), or left it for good (forgotten)."},
    MetricSpec{"zerohop_cache_host_bytes",
               kGauge,
               MetricUnit::kBytes,
               {"kind"},
               "Host memory of the prefix cache: used, and the most that it may use (max)."},
    MetricSpec{"zerohop_cache_host_entries",
               kGauge,
               MetricUnit::kNone,
               {},
               "Saved states in host memory."},
    MetricSpec{"zerohop_pressure_entries_total",
               kCounter,
               MetricUnit::kNone,
               {"rung"},
               "Times that a rung of the pressure ladder was entered."},
    MetricSpec{"zerohop_circuit_open",
               kGauge,
               MetricUnit::kNone,
               {},
               "1 while the engine tries one sequence at a time after several failed steps."},
    MetricSpec{"zerohop_profile_requests_total",
               kCounter,
               MetricUnit::kNone,
               {"profile"},
               "Requests by the entry of prompt.profiles that they match; none: no entry."},

    // Names that existing dashboards know.
    MetricSpec{"anthropic_kernel_pressure_rung",
               kGauge,
               MetricUnit::kNone,
               {},
               "Rung of the pressure ladder: 0 normal, 1 park_idle, 2 compress, 3 compact, 4 "
               "soft_max_tokens, 5 shed."},
    MetricSpec{"anthropic_kernel_internal_retries_total",
               kCounter,
               MetricUnit::kNone,
               {"cause"},
               "Steps that failed, were undone and tried again: no room, a fatal answer of the "
               "library, logits that were no numbers."},
    MetricSpec{"anthropic_kernel_kv_cache_fragmentation_ratio",
               kGauge,
               MetricUnit::kRatio,
               {},
               "Of the cells that a step looks over, the share that holds nothing; with streams, "
               "of those from the lowest to the highest that run, the share that does not."},
    MetricSpec{"anthropic_kernel_kv_cache_compact_seconds",
               kHistogram,
               MetricUnit::kSeconds,
               {},
               "Time of one slice of moving scattered cells together, between two steps."},
    MetricSpec{"anthropic_instance_cache_hit_ratio",
               kGauge,
               MetricUnit::kRatio,
               {},
               "The same number as anthropic_kernel_cache_hit_rate."},
    MetricSpec{"cortex_kv_cache_hit_rate",
               kGauge,
               MetricUnit::kRatio,
               {"model", "cause"},
               "Of all prompt tokens since the start, the share that was found (hit) or missed, by "
               "cause."},
    MetricSpec{"anthropic_kernel_inference_ms",
               kHistogram,
               MetricUnit::kMilliseconds,
               {},
               "Time of one request in the engine, from its place in a batch to its last token."},
    MetricSpec{"anthropic_kernel_cache_hit_rate",
               kGauge,
               MetricUnit::kRatio,
               {},
               "Share of all prompt tokens since the start that were found in the KV cache."},
    MetricSpec{"anthropic_kernel_output_tokens_per_second",
               kGauge,
               MetricUnit::kTokensPerSecond,
               {},
               "Tokens generated per second since the previous scrape (1 s ago or more)."},
};

}  // namespace

std::span<const std::string_view> MetricSpec::labels() const {
  const auto end = std::find(label_names.begin(), label_names.end(), std::string_view{});
  return {label_names.begin(), end};
}

std::span<const MetricSpec> metric_table() { return kTable; }

std::string_view metric_kind_name(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter: return "counter";
    case MetricKind::kGauge: return "gauge";
    case MetricKind::kHistogram: break;
  }
  return "histogram";
}

std::string_view metric_unit_name(MetricUnit unit) {
  switch (unit) {
    case MetricUnit::kNone: break;
    case MetricUnit::kSeconds: return "seconds";
    case MetricUnit::kMilliseconds: return "milliseconds";
    case MetricUnit::kTokens: return "tokens";
    case MetricUnit::kCells: return "cells";
    case MetricUnit::kBytes: return "bytes";
    case MetricUnit::kRatio: return "ratio";
    case MetricUnit::kTokensPerSecond: return "tokens/s";
  }
  return "–";
}

}  // namespace zerohop

// The part of the metric table that is about requests and answers: times, tokens, labels.
#include <array>

#include "telemetry/metric_table_parts.h"

namespace zerohop {
namespace {

constexpr std::array kTable{
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

    MetricSpec{"zerohop_prompt_rewrites_total",
               kCounter,
               MetricUnit::kNone,
               {"rule"},
               "Pieces of system prompts that were left out (billing_header) or moved to the end "
               "of the prompt (a pattern of prompt.volatile), so that prefixes stay the same."},
    MetricSpec{"zerohop_profile_requests_total",
               kCounter,
               MetricUnit::kNone,
               {"profile"},
               "Requests by the entry of prompt.profiles that they match; none: no entry."},

    // Latency as a client sees it. `tier` is the name of its model, `class` the priority of the
    // request.
    MetricSpec{"zerohop_queue_seconds",
               kHistogram,
               MetricUnit::kSeconds,
               {"tier", "class"},
               "From the engine's acceptance of a request to its place in a batch."},
    MetricSpec{"zerohop_ttft_seconds",
               kHistogram,
               MetricUnit::kSeconds,
               {"tier", "class"},
               "Time to first token: from the first byte of the request to the first text."},
    MetricSpec{"zerohop_itl_seconds",
               kHistogram,
               MetricUnit::kSeconds,
               {"tier", "class"},
               "Inter-token latency: between two successive bursts of text of one answer."},
    MetricSpec{"zerohop_tpot_seconds",
               kHistogram,
               MetricUnit::kSeconds,
               {"tier", "class"},
               "Time per output token: of one whole answer, from its first text to its end, by its "
               "tokens behind the first."},
    MetricSpec{"zerohop_e2e_seconds",
               kHistogram,
               MetricUnit::kSeconds,
               {"tier", "class"},
               "From the first byte of the request to the last token of the answer."},
    MetricSpec{"zerohop_queue_max_seconds",
               kGauge,
               MetricUnit::kSeconds,
               {"tier"},
               "The largest zerohop_queue_seconds of the last minute. Averages and histograms hide "
               "a single stall, this does not."},
    MetricSpec{"zerohop_ttft_max_seconds",
               kGauge,
               MetricUnit::kSeconds,
               {"tier"},
               "The largest zerohop_ttft_seconds of the last minute."},
    MetricSpec{"zerohop_itl_max_seconds",
               kGauge,
               MetricUnit::kSeconds,
               {"tier"},
               "The largest zerohop_itl_seconds of the last minute."},
    MetricSpec{"zerohop_e2e_max_seconds",
               kGauge,
               MetricUnit::kSeconds,
               {"tier"},
               "The largest zerohop_e2e_seconds of the last minute."},

    // Objectives, those of slo.objectives (slo_metrics.h).
    MetricSpec{"zerohop_slo_good_total",
               kCounter,
               MetricUnit::kNone,
               {"objective", "tier", "class"},
               "Of zerohop_slo_total, what was good. availability: requests for text or "
               "embeddings that were answered to their end. ttft: answers whose first token came "
               "within the threshold. "
               "itl: streams in which no pause behind the first token was longer, those aside "
               "that the reader made. total: answers whose last token came in time, and that did "
               "not fail."},
    MetricSpec{"zerohop_slo_total",
               kCounter,
               MetricUnit::kNone,
               {"objective", "tier", "class"},
               "What counts for an objective, when it is over. availability: requests for text or "
               "embeddings, but not those that their client left or got wrong (4xx, limits of its "
               "own included); so 500, 503, 504, 529 and broken streams are what is not good. "
               "Counting tokens and making batches asks nothing of the model and counts nowhere. "
               "ttft, itl and total: "
               "answers of requests that the engine took in, where something is generated; one "
               "that its client left counts only where its first token had come or was too late "
               "(itl, ttft), or its end was too late (total). Requests of message batches count "
               "nowhere: nobody waits for them."},

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

    // Labels that requests carry in their metadata, those named by metrics.labels.
    MetricSpec{"zerohop_label_requests_total",
               kCounter,
               MetricUnit::kNone,
               {"label", "value", "outcome"},
               "Model requests by a label of their metadata: answered to the end (ok), or refused, "
               "failed or left by their client (failed)."},
    MetricSpec{"zerohop_label_tokens_total",
               kCounter,
               MetricUnit::kTokens,
               {"label", "value"},
               "Tokens generated for requests with that label."},
    MetricSpec{"chat_completion_success_rate",
               kGauge,
               MetricUnit::kRatio,
               {"channel"},
               "Of the model requests of the last 5 minutes with the label channel, the share that "
               "was answered to the end. Absent while there was none."},
    MetricSpec{"avg_tokens_per_response",
               kGauge,
               MetricUnit::kTokens,
               {"intent"},
               "Mean length of the answers of the last 5 minutes to requests with the label "
               "intent. Absent while there was none."},
    MetricSpec{"tool_call_success_rate",
               kGauge,
               MetricUnit::kRatio,
               {"tool"},
               "Of the results of the tool that clients sent in the last 5 minutes, the share that "
               "was no error. Only where metrics.labels names tool; absent while there was none."},
};

}  // namespace

std::span<const MetricSpec> answer_metric_specs() { return kTable; }

}  // namespace zerohop

// The part of the metric table whose names existing dashboards know.
#include <array>

#include "telemetry/metric_table_parts.h"

namespace zerohop {
namespace {

constexpr std::array kTable{
    // anthropic_kernel: the engine and what is around it.
    MetricSpec{"anthropic_kernel_inference_ms",
               kHistogram,
               MetricUnit::kMilliseconds,
               {},
               "Time of one request in the engine, from its place in a batch to its last token."},
    MetricSpec{"anthropic_kernel_inference_p95_ms",
               kGauge,
               MetricUnit::kMilliseconds,
               {},
               "95th percentile of anthropic_kernel_inference_ms over the last minute, 5 % "
               "precise. Absent while no request ended in it."},
    MetricSpec{"anthropic_kernel_output_tokens_per_second",
               kGauge,
               MetricUnit::kTokensPerSecond,
               {},
               "Tokens generated per second since the previous scrape (1 s ago or more)."},
    MetricSpec{"anthropic_kernel_cache_hit_rate",
               kGauge,
               MetricUnit::kRatio,
               {},
               "Share of all prompt tokens since the start that were found in the KV cache."},
    MetricSpec{"anthropic_kernel_kv_cache_fragmentation_ratio",
               kGauge,
               MetricUnit::kRatio,
               {},
               "Of the cells that a step looks over, the share that holds nothing; with streams, "
               "of those from the lowest to the highest that run, the share that does not."},
    MetricSpec{"anthropic_kernel_kv_cache_fragmentation_p95",
               kGauge,
               MetricUnit::kRatio,
               {},
               "95th percentile of anthropic_kernel_kv_cache_fragmentation_ratio over the steps of "
               "the last minute, 5 % precise. Absent while there was no step."},
    MetricSpec{"anthropic_kernel_kv_cache_compact_seconds",
               kHistogram,
               MetricUnit::kSeconds,
               {},
               "Time of one slice of moving scattered cells together, between two steps."},
    MetricSpec{"anthropic_kernel_tokenizer_latency_ms",
               kHistogram,
               MetricUnit::kMilliseconds,
               {},
               "Time from a parsed conversation to tokens: the template and the tokenizer, on a "
               "worker thread. Turns that were seen lately are not tokenised again."},
    MetricSpec{"anthropic_kernel_tokenizer_adaptation_score",
               kGauge,
               MetricUnit::kRatio,
               {},
               "How well the vocabulary fits what is sent: 1 - tokens / bytes of all prompts since "
               "the start. 0: a token for each byte; English text has 0.7 to 0.8. Absent before "
               "the first prompt."},
    MetricSpec{"anthropic_kernel_schema_resamples_total",
               kCounter,
               MetricUnit::kNone,
               {},
               "Tokens that were drawn again because a constraint did not allow the first one."},
    MetricSpec{"anthropic_kernel_schema_resample_microseconds_total",
               kCounter,
               MetricUnit::kNone,
               {},
               "Microseconds that finding the legal tokens for these took: what a constraint adds "
               "to the time of an answer."},
    MetricSpec{"anthropic_kernel_internal_retries_total",
               kCounter,
               MetricUnit::kNone,
               {"cause"},
               "Steps that failed, were undone and tried again: no room, a fatal answer of the "
               "library, logits that were no numbers."},
    MetricSpec{
        "anthropic_kernel_gpu_memory_utilization_percent",
        kGauge,
        MetricUnit::kPercent,
        {},
        "Effective compute occupancy, 0 to 100, under its traditional name: the busy share of the "
        "step loop times the fill of its batches, since the previous scrape (1 s ago or more). The "
        "fill of a step is its rows by the sequences that can be computed at once, at most 1. It "
        "is not about memory: that is anthropic_instance_gpu_memory_used_bytes."},
    MetricSpec{"anthropic_kernel_state_seconds",
               kHistogram,
               MetricUnit::kSeconds,
               {"state"},
               "Time that a model request spent in each state of its life, observed when it ends: "
               "idle, receiving, validating, inferring, streaming."},
    MetricSpec{"anthropic_kernel_pressure_rung",
               kGauge,
               MetricUnit::kNone,
               {},
               "Rung of the pressure ladder: 0 normal, 1 park_idle, 2 compress, 3 compact, 4 "
               "soft_max_tokens, 5 shed."},
    MetricSpec{"anthropic_kernel_policy_blocked_rate",
               kGauge,
               MetricUnit::kRatio,
               {},
               "Share of requests that a content policy blocked. Absent as long as no policy is "
               "loaded; this version has none."},
    MetricSpec{"anthropic_kernel_policy_head_confidence",
               kGauge,
               MetricUnit::kRatio,
               {},
               "Mean confidence of the policy head. Absent as long as none is loaded; this version "
               "has none."},

    // anthropic_instance: this process.
    MetricSpec{"anthropic_instance_gpu_utilization",
               kGauge,
               MetricUnit::kRatio,
               {},
               "Share of the time since the previous scrape (1 s ago or more) in which the step "
               "loop computed, whatever it computes on."},
    MetricSpec{"anthropic_instance_cache_hit_ratio",
               kGauge,
               MetricUnit::kRatio,
               {},
               "The same number as anthropic_kernel_cache_hit_rate."},
    MetricSpec{"anthropic_instance_oom_kills_total",
               kCounter,
               MetricUnit::kNone,
               {},
               "Processes of the cgroup that the kernel killed for want of memory (oom_kill in its "
               "memory.events). Absent where the cgroup has no such file."},
    MetricSpec{"anthropic_instance_gpu_memory_used_bytes",
               kGauge,
               MetricUnit::kBytes,
               {},
               "Memory of the model and of the KV cells that hold something, on the device that "
               "computes; without a GPU that is main memory."},
    MetricSpec{"anthropic_instance_gpu_memory_total_bytes",
               kGauge,
               MetricUnit::kBytes,
               {},
               "Memory of the model and of all KV cells, which this instance took at its start; "
               "not that of the device."},
    MetricSpec{"anthropic_instance_gpu_memory_fragmentation_ratio",
               kGauge,
               MetricUnit::kRatio,
               {},
               "The same number as anthropic_kernel_kv_cache_fragmentation_ratio."},

    // anthropic_direct: what client libraries export too, as the server sees it.
    MetricSpec{"anthropic_direct_request_duration_seconds",
               kHistogram,
               MetricUnit::kSeconds,
               {"status"},
               "From the first byte of a model request to the last one of its answer, by HTTP "
               "status; 0: the client went away before the answer began."},
    MetricSpec{"anthropic_direct_stream_first_token_seconds",
               kHistogram,
               MetricUnit::kSeconds,
               {},
               "From the first byte of a streaming request to the first text of its answer."},
    MetricSpec{"anthropic_direct_error_count",
               kCounter,
               MetricUnit::kNone,
               {"error_type"},
               "Model requests that ended in an error, in a status or inside a stream, by its type "
               "in the Messages API."},

    // cortex: by model.
    MetricSpec{"cortex_gpu_utilization",
               kGauge,
               MetricUnit::kRatio,
               {"model"},
               "The same number as anthropic_instance_gpu_utilization."},
    MetricSpec{"cortex_cuda_stream_latency_seconds",
               kHistogram,
               MetricUnit::kSeconds,
               {"model", "stage"},
               "Time by stage, whatever computes: one forward pass that computes prompts only "
               "(prefill), or somebody's next token too (decode); drawing the tokens of a step "
               "(sample); finding what constraints allow in a step (mask); handing a piece of an "
               "answer to its socket (write)."},
    MetricSpec{"cortex_kv_cache_hit_rate",
               kGauge,
               MetricUnit::kRatio,
               {"model", "cause"},
               "Of all prompt tokens since the start, the share that was found (hit) or missed, by "
               "cause."},
};

}  // namespace

std::span<const MetricSpec> known_name_metric_specs() { return kTable; }

}  // namespace zerohop

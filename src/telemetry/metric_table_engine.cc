// The part of the metric table that is about the engine: steps, cells, cache, constraints.
#include <array>

#include "telemetry/metric_table_parts.h"

namespace zerohop {
namespace {

constexpr std::array kTable{
    // The queue.
    MetricSpec{"zerohop_ttft_predicted_seconds",
               kHistogram,
               MetricUnit::kSeconds,
               {},
               "Time from the engine's acceptance to the first token as it was predicted on a "
               "request's arrival."},
    MetricSpec{"zerohop_ttft_prediction_error_seconds",
               kHistogram,
               MetricUnit::kSeconds,
               {"direction"},
               "How far such a prediction was off, by whether the first token came later (late) or "
               "earlier (early)."},
    MetricSpec{"zerohop_queue_refusals_total",
               kCounter,
               MetricUnit::kNone,
               {"cause"},
               "Requests refused with overloaded_error: all permits are out (permits), the queue "
               "holds as many as it may (requests, tokens) or as many of a tenant "
               "(tenant_requests, tenant_tokens), it repeats one that was refused and comes before "
               "its time (repeated), the first token would come too late (wait, "
               "deadline)."},
    MetricSpec{"zerohop_requests_joined_total",
               kCounter,
               MetricUnit::kNone,
               {},
               "Repetitions that joined the running answer to the same request."},
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
               "(closed_early), and requests whose shortest answer did not fit: into their own "
               "max_tokens (refused_early), or into what prompt and budget left (refused)."},
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
    MetricSpec{"zerohop_draft_tokens_total",
               kCounter,
               MetricUnit::kTokens,
               {"event"},
               "Tokens that were computed before it was known whether they come, because an answer "
               "repeated its own text (drafted); of these, those that came (accepted) and the "
               "others, of which nothing is left (rejected)."},
    MetricSpec{
        "zerohop_draft_steps_total", kCounter, MetricUnit::kNone, {}, "Steps with such tokens."},
    MetricSpec{"zerohop_draft_acceptance",
               kGauge,
               MetricUnit::kRatio,
               {},
               "Of all such tokens since the start, the share that came."},
    MetricSpec{"zerohop_engine_step_seconds",
               kHistogram,
               MetricUnit::kSeconds,
               {},
               "Duration of one step of the loop."},
    MetricSpec{"zerohop_engine_step_max_seconds",
               kGauge,
               MetricUnit::kSeconds,
               {},
               "The longest step of the last minute."},
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

    // The prefix cache and the pressure ladder.
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
    MetricSpec{"zerohop_cache_tokens_total",
               kCounter,
               MetricUnit::kTokens,
               {"event"},
               "Cached tokens that left the cells (evicted), were copied to host memory (saved), "
               "came back from there (restored), or left it for good (forgotten)."},
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
};

}  // namespace

std::span<const MetricSpec> engine_metric_specs() { return kTable; }

}  // namespace zerohop

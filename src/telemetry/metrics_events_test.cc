// Every family of the table moves when its event happens, and with no other event.
//
// The table below lists events and the families that each may move. An event is played on a fresh
// page in virtual time; families whose lines changed must be exactly those. A family that no event
// names fails the last test, so whoever adds a family adds the event that feeds it.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "telemetry/metrics.h"
#include "telemetry/metrics_test_kit.h"
#include "telemetry/otlp_metrics.h"
#include "telemetry/queue_metrics.h"
#include "telemetry/request_metrics.h"
#include "telemetry/slo_metrics.h"
#include "telemetry/tier_metrics.h"

namespace zerohop {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Everything that feeds the table, as the server has it.
struct World {
  VirtualClock clock;
  MetricsRegistry registry{{"i", "p"}};
  Metrics metrics{registry};
  RequestMetrics requests{registry, clock};
  QueueMetrics queue{registry};
  OtlpMetrics otlp{registry};
  EngineSnapshot engine;
  std::unique_ptr<TierMetrics> tier;
  std::unique_ptr<SloMetrics> slo;

  World() {
    clock.advance(seconds(1'000));
    SloObjective first_token;
    first_token.name = "first";
    first_token.indicator = SloIndicator::kTtft;
    first_token.threshold = seconds(1);
    const std::vector<SloObjective> objectives{SloObjective{.name = "up", .target = 0.99},
                                               first_token};
    slo = std::make_unique<SloMetrics>(registry, objectives, "small");
    TierFacts facts;
    facts.model = "small";
    facts.sequences = 4;
    facts.model_bytes = 100;
    facts.kv_bytes_per_cell = 10;
    tier = std::make_unique<TierMetrics>(registry, clock, facts);
    export_engine_snapshot(registry, clock, "small", [this] { return engine; });
    registry.at_scrape([this] { tier->steps.publish(engine); });
  }

  FinishedRequest finished() {
    FinishedRequest request;
    request.tenant = "acme";
    request.status = 200;
    request.ok = true;
    request.total = seconds(1);
    return request;
  }
};

using LabelList = std::vector<std::pair<std::string, std::string>>;

struct EventCase {
  std::string name;
  std::function<void(World&)> play;
  std::set<std::string> moves;
};

using Cases = std::vector<EventCase>;

const std::string kKernel = "anthropic_kernel_";
const std::string kInstance = "anthropic_instance_";

void add_door_events(Cases& cases) {
  cases.push_back({"an HTTP request is answered",
                   [](World& w) { w.metrics.count_http_request("/v1/messages", 200); },
                   {"zerohop_http_requests_total"}});
  cases.push_back({"a connection is opened",
                   [](World& w) { w.metrics.http_connections.set(1); },
                   {"zerohop_http_connections"}});
  cases.push_back(
      {"connections are refused and handshakes made",
       [](World& w) { w.metrics.publish_connections({.over_limit = 1, .tls_handshakes = 1}); },
       {"zerohop_http_connections_refused_total", "zerohop_tls_handshakes_total"}});
  cases.push_back({"a certificate is read again",
                   [](World& w) { w.metrics.count_tls_reload(Metrics::TlsReload::kTaken); },
                   {"zerohop_tls_reloads_total"}});
  cases.push_back({"a certificate is used",
                   [](World& w) { w.metrics.set_certificate_expiry(WallTime() + seconds(9)); },
                   {"zerohop_tls_certificate_expires_at"}});
  cases.push_back({"a gateway shows itself",
                   [](World& w) { w.metrics.count_gateway("nginx"); },
                   {"zerohop_gateway_requests_total"}});
  cases.push_back({"a model request comes in",
                   [](World& w) { w.metrics.requests_in_flight.set(1); },
                   {"zerohop_requests_in_flight"}});
  cases.push_back({"a request is refused",
                   [](World& w) { w.metrics.count_refusal(ErrorCode::kOverloaded); },
                   {"zerohop_refusals_total"}});
  cases.push_back({"a client goes away",
                   [](World& w) { w.metrics.count_cancellation(CancelPhase::kDecode); },
                   {"zerohop_cancellations_total"}});
  cases.push_back({"a key is wrong",
                   [](World& w) { w.metrics.count_auth_failure("unknown"); },
                   {"zerohop_auth_failures_total"}});
  cases.push_back({"keys are read again",
                   [](World& w) {
                     w.metrics.count_key_reload("done");
                     w.metrics.keys.set(2);
                   },
                   {"zerohop_key_reloads_total", "zerohop_keys"}});
  cases.push_back({"a version is named",
                   [](World& w) { w.metrics.count_api_version("2023-06-01", "none"); },
                   {"zerohop_api_versions_total"}});
  cases.push_back({"the program starts",
                   [](World& w) { w.metrics.set_build_info("1", "2"); },
                   {"zerohop_build_info"}});
  cases.push_back({"the kernel kills a process of the cgroup",
                   [](World& w) { w.metrics.publish_oom_kills(1); },
                   {kInstance + "oom_kills_total"}});
}

void add_request_events(Cases& cases) {
  cases.push_back({"a request ends",
                   [](World& w) { w.requests.count(w.finished()); },
                   {"anthropic_direct_request_duration_seconds", "zerohop_tenant_requests_total"}});
  cases.push_back({"a request with tokens ends",
                   [](World& w) {
                     FinishedRequest request = w.finished();
                     request.cached_tokens = 3;
                     w.requests.count(request);
                   },
                   {"anthropic_direct_request_duration_seconds", "zerohop_tenant_requests_total",
                    "zerohop_tenant_tokens_total"}});
  cases.push_back({"a request fails",
                   [](World& w) {
                     FinishedRequest request = w.finished();
                     request.status = 529;
                     request.ok = false;
                     request.error_type = "overloaded_error";
                     w.requests.count(request);
                   },
                   {"anthropic_direct_request_duration_seconds", "anthropic_direct_error_count",
                    "zerohop_tenant_requests_total"}});
  cases.push_back(
      {"a request was in a state",
       [](World& w) {
         const std::vector<std::pair<std::string_view, Duration>> states{{"inferring", seconds(1)}};
         FinishedRequest request = w.finished();
         request.states = states;
         w.requests.count(request);
       },
       {"anthropic_direct_request_duration_seconds", "zerohop_tenant_requests_total",
        kKernel + "state_seconds"}});
  cases.push_back({"a request with labels ends",
                   [](World& w) {
                     const LabelList labels{{"channel", "web"}, {"intent", "refund"}};
                     FinishedRequest request = w.finished();
                     request.labels = labels;
                     w.requests.count(request);
                   },
                   {"anthropic_direct_request_duration_seconds", "zerohop_tenant_requests_total",
                    "zerohop_label_requests_total", "zerohop_label_tokens_total",
                    "chat_completion_success_rate", "avg_tokens_per_response"}});
  cases.push_back({"a tool was run",
                   [](World& w) {
                     w.requests.count_tool_result("get_weather", RequestMetrics::ToolOutcome::kOk);
                   },
                   {"tool_call_success_rate"}});
  cases.push_back({"a request cost money",
                   [](World& w) { w.requests.count_cost("acme", 5); },
                   {"zerohop_tenant_cost_microdollars_total"}});
  cases.push_back({"a prompt is rewritten",
                   [](World& w) { w.metrics.count_prompt_rewrites("billing_header", 1); },
                   {"zerohop_prompt_rewrites_total"}});
  cases.push_back({"a profile matches",
                   [](World& w) { w.metrics.count_profile_request("agent"); },
                   {"zerohop_profile_requests_total"}});
  cases.push_back({"a constraint is compiled",
                   [](World& w) {
                     w.metrics.count_constraint(Metrics::ConstraintFrom::kCompiler);
                     w.metrics.constraint_compile_seconds.observe(milliseconds(2));
                   },
                   {"zerohop_constraint_requests_total", "zerohop_constraint_compile_seconds"}});
  cases.push_back({"a schema is refused, another relaxed",
                   [](World& w) {
                     w.metrics.count_constraint_refusal("invalid", "type");
                     w.metrics.count_constraint_relaxed();
                   },
                   {"zerohop_constraint_refusals_total", "zerohop_constraint_relaxed_total"}});
}

void add_answer_events(Cases& cases) {
  constexpr PriorityClass kClass = PriorityClass::kStandard;
  using Shape = AnswerMetrics::Shape;
  cases.push_back({"a request gets its place",
                   [](World& w) { w.tier->answers.placed(kClass, milliseconds(5)); },
                   {"zerohop_queue_seconds", "zerohop_queue_max_seconds"}});
  cases.push_back(
      {"a whole answer has its first text",
       [](World& w) { w.tier->answers.first_text(kClass, milliseconds(5), Shape::kWhole); },
       {"zerohop_ttft_seconds", "zerohop_ttft_max_seconds"}});
  cases.push_back(
      {"a stream has its first text",
       [](World& w) { w.tier->answers.first_text(kClass, milliseconds(5), Shape::kStream); },
       {"zerohop_ttft_seconds", "zerohop_ttft_max_seconds",
        "anthropic_direct_stream_first_token_seconds"}});
  cases.push_back({"more text comes",
                   [](World& w) { w.tier->answers.next_text(kClass, milliseconds(5)); },
                   {"zerohop_itl_seconds", "zerohop_itl_max_seconds"}});
  cases.push_back({"an answer of one token ends",
                   [](World& w) {
                     w.tier->answers.ended(kClass, {seconds(2), seconds(1), seconds(0), 1});
                   },
                   {"zerohop_e2e_seconds", "zerohop_e2e_max_seconds", kKernel + "inference_ms",
                    kKernel + "inference_p95_ms"}});
  cases.push_back({"a longer answer ends",
                   [](World& w) {
                     w.tier->answers.ended(kClass, {seconds(2), seconds(1), seconds(1), 11});
                   },
                   {"zerohop_e2e_seconds", "zerohop_e2e_max_seconds", "zerohop_tpot_seconds",
                    kKernel + "inference_ms", kKernel + "inference_p95_ms"}});
  cases.push_back({"a piece is written",
                   [](World& w) { w.tier->answers.written(milliseconds(1)); },
                   {"cortex_cuda_stream_latency_seconds"}});
  cases.push_back({"not even the shortest answer fits",
                   [](World& w) { w.metrics.count_constrained_answer_refused(); },
                   {"zerohop_constraint_answers_total"}});
  cases.push_back({"a prompt is made",
                   [](World& w) { w.tier->prompts.prepared(milliseconds(1), 10, 40); },
                   {kKernel + "tokenizer_latency_ms", kKernel + "tokenizer_adaptation_score"}});
}

void add_step_events(Cases& cases) {
  const std::set<std::string> load{kInstance + "gpu_utilization", "cortex_gpu_utilization"};
  cases.push_back({"a step is computed",
                   [](World& w) {
                     StepTimes step;
                     step.pass = milliseconds(20);
                     step.fragmentation = 0.5;
                     w.tier->steps.step(step);
                   },
                   {"zerohop_engine_step_seconds", "zerohop_engine_step_max_seconds",
                    "cortex_cuda_stream_latency_seconds", kKernel + "kv_cache_fragmentation_p95"}});
  cases.push_back({"cells are moved together",
                   [](World& w) { w.tier->steps.compaction(milliseconds(2)); },
                   {kKernel + "kv_cache_compact_seconds"}});
  cases.push_back({"the loop was busy for half of two seconds",
                   [](World& w) {
                     w.engine.busy = seconds(1);
                     w.clock.advance(seconds(2));
                   },
                   load});
  std::set<std::string> filled = load;
  filled.insert({kKernel + "gpu_memory_utilization_percent", "zerohop_engine_step_seconds",
                 "zerohop_engine_step_max_seconds", "cortex_cuda_stream_latency_seconds",
                 kKernel + "kv_cache_fragmentation_p95"});
  cases.push_back({"its batches were half full",
                   [](World& w) {
                     StepTimes step;
                     step.kind = StepTimes::Kind::kDecode;
                     step.pass = seconds(1);
                     step.rows = 2;
                     w.tier->steps.step(step);
                     w.engine.busy = seconds(1);
                     w.clock.advance(seconds(2));
                   },
                   filled});
}

struct FieldCase {
  std::string name;
  std::function<void(EngineSnapshot&)> set;
  std::set<std::string> moves;
};

// What the engine publishes: one case for each field, or for fields that are shown together.
std::vector<FieldCase> field_cases() {
  using E = EngineSnapshot;
  const std::string memory = kInstance + "gpu_memory_used_bytes";
  const std::string hit_rate = "cortex_kv_cache_hit_rate";
  const std::string time = "zerohop_constraint_mask_microseconds_total";
  return {
      {"steps", [](E& e) { e.steps = 1; }, {"zerohop_engine_steps_total"}},
      {"threads", [](E& e) { e.threads = 1; }, {"zerohop_engine_threads"}},
      {"thread changes",
       [](E& e) { e.thread_changes = 1; },
       {"zerohop_engine_thread_changes_total"}},
      {"steps outrun", [](E& e) { e.steps_outrun = 1; }, {"zerohop_engine_steps_outrun_total"}},
      {"drafts", [](E& e) { e.drafts.drafted = 1; }, {"zerohop_draft_tokens_total"}},
      {"steps with drafts", [](E& e) { e.drafts.steps = 1; }, {"zerohop_draft_steps_total"}},
      {"queued", [](E& e) { e.queued = 1; }, {"zerohop_engine_queued"}},
      {"prefilling", [](E& e) { e.prefilling = 1; }, {"zerohop_engine_prefilling"}},
      {"decoding", [](E& e) { e.decoding = 1; }, {"zerohop_engine_decoding"}},
      {"paused", [](E& e) { e.paused = 1; }, {"zerohop_engine_paused"}},
      {"parked", [](E& e) { e.parked_requests = 1; }, {"zerohop_engine_parked"}},
      {"cells",
       [](E& e) { e.cells_total = 9; },
       {"zerohop_kv_cells", kInstance + "gpu_memory_total_bytes"}},
      {"cells in use",
       [](E& e) { e.cells_total = 9, e.cells_active = 3; },
       {"zerohop_kv_cells", memory, kInstance + "gpu_memory_total_bytes"}},
      {"cells reserved", [](E& e) { e.cells_reserved = 3; }, {"zerohop_kv_cells"}},
      {"charged", [](E& e) { e.tokens_charged = 1; }, {"zerohop_tokens_charged_total"}},
      {"computed", [](E& e) { e.prompt_tokens_computed = 1; }, {"zerohop_prompt_tokens_total"}},
      {"found",
       [](E& e) { e.prompt_tokens_cached = 1; },
       {"zerohop_prompt_tokens_total", "zerohop_prompt_tokens_cached_total", hit_rate,
        kKernel + "cache_hit_rate", kInstance + "cache_hit_ratio"}},
      {"generated", [](E& e) { e.output_tokens = 1; }, {"zerohop_output_tokens_total"}},
      {"missed", [](E& e) { e.misses[2] = 1; }, {"zerohop_cache_misses_total"}},
      {"missed tokens",
       [](E& e) { e.missed_tokens[2] = 1, e.prompt_tokens_computed = 2; },
       {"zerohop_cache_missed_tokens_total", "zerohop_prompt_tokens_total", hit_rate}},
      {"evicted", [](E& e) { e.tokens_evicted = 1; }, {"zerohop_cache_tokens_total"}},
      {"host", [](E& e) { e.host_bytes = 1; }, {"zerohop_cache_host_bytes"}},
      {"entries", [](E& e) { e.host_entries = 1; }, {"zerohop_cache_host_entries"}},
      {"rung", [](E& e) { e.rung = PressureRung::kShed; }, {kKernel + "pressure_rung"}},
      {"rungs", [](E& e) { e.rung_entries[1] = 1; }, {"zerohop_pressure_entries_total"}},
      {"fragmentation",
       [](E& e) { e.fragmentation = 0.5; },
       {kKernel + "kv_cache_fragmentation_ratio", kInstance + "gpu_memory_fragmentation_ratio"}},
      {"circuit", [](E& e) { e.circuit_open = true; }, {"zerohop_circuit_open"}},
      {"parks", [](E& e) { e.parks_for_cells = 1; }, {"zerohop_parks_total"}},
      {"resumes", [](E& e) { e.resumes = 1; }, {"zerohop_resumes_total"}},
      {"deadlines", [](E& e) { e.deadlines_refused = 1; }, {"zerohop_deadlines_refused_total"}},
      {"soft", [](E& e) { e.soft_max_tokens_applied = 1; }, {"zerohop_soft_max_tokens_total"}},
      {"compactions", [](E& e) { e.compactions = 1; }, {"zerohop_compactions_total"}},
      {"retries", [](E& e) { e.retries_fatal = 1; }, {kKernel + "internal_retries_total"}},
      {"checks", [](E& e) { e.constraints.checks = 1; }, {"zerohop_constraint_tokens_total"}},
      {"resamples",
       [](E& e) { e.constraints.misses = 2, e.constraints.legal_mass = 1; },
       {"zerohop_constraint_tokens_total", "zerohop_constraint_legal_mass",
        kKernel + "schema_resamples_total"}},
      {"refused", [](E& e) { e.constraints.refused = 1; }, {"zerohop_constraint_answers_total"}},
      {"masks", [](E& e) { e.constraints.masks_built = 1; }, {"zerohop_constraint_masks_total"}},
      {"mask time",
       [](E& e) { e.constraints.mask_time = milliseconds(1); },
       {time, kKernel + "schema_resample_microseconds_total"}},
      {"longest mask",
       [](E& e) { e.constraints.mask_time_max = milliseconds(1); },
       {"zerohop_constraint_mask_microseconds_max"}},
      {"machines", [](E& e) { e.constraints.machines = 1; }, {"zerohop_constraint_machines"}},
      {"machine bytes", [](E& e) { e.constraints.mask_bytes = 1; }, {"zerohop_constraint_bytes"}},
  };
}

void add_snapshot_events(Cases& cases) {
  for (const FieldCase& field : field_cases()) {
    cases.push_back({"the engine publishes " + field.name,
                     [set = field.set](World& w) { set(w.engine); }, field.moves});
  }
  cases.push_back({"the engine publishes accepted drafts",
                   [](World& w) { w.engine.drafts.drafted = w.engine.drafts.accepted = 2; },
                   {"zerohop_draft_tokens_total", "zerohop_draft_acceptance"}});
  cases.push_back({"two seconds pass while tokens are generated",
                   [](World& w) {
                     w.engine.output_tokens = 10;
                     w.clock.advance(seconds(2));
                   },
                   {"zerohop_output_tokens_total", kKernel + "output_tokens_per_second"}});
  cases.push_back({"time passes", [](World& w) { w.clock.advance(seconds(10)); }, {}});
}

void add_queue_events(Cases& cases) {
  cases.push_back({"the time to a first token was foreseen",
                   [](World& w) { w.queue.first_token(milliseconds(50), milliseconds(70)); },
                   {"zerohop_ttft_predicted_seconds", "zerohop_ttft_prediction_error_seconds"}});
  cases.push_back({"the queue refuses",
                   [](World& w) { w.queue.count_refusal("wait"); },
                   {"zerohop_queue_refusals_total"}});
  cases.push_back({"a repetition joins",
                   [](World& w) { w.queue.count_joined(); },
                   {"zerohop_requests_joined_total"}});
  cases.push_back({"the configuration is read again",
                   [](World& w) { w.metrics.count_config_reload("applied"); },
                   {"zerohop_config_reloads_total"}});
  cases.push_back({"metrics are sent to a collector",
                   [](World& w) { w.otlp.count_export(OtlpSignal::kMetrics, OtlpResult::kOk); },
                   {"zerohop_otlp_exports_total"}});
  cases.push_back({"spans are given up",
                   [](World& w) { w.otlp.count_lost(SpanLoss::kGivenUp, 3); },
                   {"zerohop_otlp_spans_dropped_total"}});
}

void add_objective_events(Cases& cases) {
  constexpr PriorityClass kClass = PriorityClass::kStandard;
  using Outcome = SloMetrics::Outcome;
  const std::string total = "zerohop_slo_total";
  const std::string good = "zerohop_slo_good_total";
  cases.push_back({"a request met its objective",
                   [](World& w) { w.slo->count_request(kClass, Outcome::kGood); },
                   {total, good}});
  cases.push_back({"a request missed its objective",
                   [](World& w) { w.slo->count_request(kClass, Outcome::kBad); },
                   {total}});
  cases.push_back({"an answer met its objective",
                   [](World& w) {
                     AnswerForSlo answer;
                     answer.first_text = seconds(1);
                     w.slo->count_answer(answer);
                   },
                   {total, good}});
  cases.push_back({"an answer missed its objective",
                   [](World& w) {
                     AnswerForSlo answer;
                     answer.first_text = seconds(2);
                     w.slo->count_answer(answer);
                   },
                   {total}});
  cases.push_back({"an answer says nothing", [](World& w) { w.slo->count_answer({}); }, {}});
}

Cases all_events() {
  Cases cases;
  add_door_events(cases);
  add_request_events(cases);
  add_answer_events(cases);
  add_step_events(cases);
  add_snapshot_events(cases);
  add_queue_events(cases);
  add_objective_events(cases);
  return cases;
}

TEST(MetricEvents, MoveTheirFamiliesAndNoOthers) {
  for (const EventCase& event : all_events()) {
    World world;
    const MetricsPage before = families_of(world.registry);
    event.play(world);
    EXPECT_EQ(moved(before, families_of(world.registry)), event.moves) << event.name;
  }
}

TEST(MetricEvents, FeedEveryFamilyOfTheTable) {
  std::set<std::string> fed{
      // Absent as long as there is no policy, as their help says.
      kKernel + "policy_blocked_rate",
      kKernel + "policy_head_confidence",
  };
  for (const EventCase& event : all_events()) fed.insert(event.moves.begin(), event.moves.end());
  for (const MetricSpec& spec : metric_table()) {
    EXPECT_EQ(fed.erase(std::string(spec.name)), 1u) << spec.name << " has no event";
  }
  EXPECT_TRUE(fed.empty()) << *fed.begin() << " is not in the table";
}

}  // namespace
}  // namespace zerohop

// Every event that begins outside the engine, played in a whole server: it moves the families that
// are its own, and no other one. What the engine publishes is tested in two halves: engine/ tests
// that a count of its snapshot moves with its event, telemetry/metrics_events_test.cc that each
// count has its family.
//
// An event names what it moves, and groups of families what may move with it, because a look at the
// clock decides it or the model. What else moves is a fault.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "admission/key_store.h"
#include "app/config_load.h"
#include "app/test_folder.h"
#include "app/test_server.h"
#include "telemetry/metrics_test_kit.h"

namespace zerohop {
namespace {

using Families = std::set<std::string>;

// ---- Groups of families ----

Families both(Families first, const Families& second) {
  first.insert(second.begin(), second.end());
  return first;
}

// Looking at the page is a request, and shares of the engine's time are of a second each.
const Families kAlways{
    "zerohop_http_requests_total",
    "zerohop_http_connections",
    "anthropic_kernel_output_tokens_per_second",
    "anthropic_kernel_gpu_memory_utilization_percent",
    "anthropic_instance_gpu_utilization",
    "cortex_gpu_utilization",
};

// A model request is over.
const Families kOver{
    "anthropic_direct_request_duration_seconds",
    "anthropic_kernel_state_seconds",
    "zerohop_tenant_requests_total",
};
const Families kRefused = both(kOver, {"anthropic_direct_error_count", "zerohop_refusals_total"});

// Something was computed for a prompt,
const Families kComputed{
    "zerohop_engine_steps_total",
    "zerohop_engine_step_seconds",
    "zerohop_engine_step_max_seconds",
    "cortex_cuda_stream_latency_seconds",
    "anthropic_kernel_kv_cache_fragmentation_p95",
    "anthropic_kernel_tokenizer_latency_ms",
    "anthropic_kernel_tokenizer_adaptation_score",
    "zerohop_prompt_tokens_total",
    "zerohop_tokens_charged_total",
    "zerohop_queue_seconds",
    "zerohop_queue_max_seconds",
};
// of which these depend on what was there before, on the clock and on the machine.
const Families kComputedPerhaps{
    "zerohop_kv_cells",
    "zerohop_engine_threads",
    "zerohop_engine_thread_changes_total",
    "zerohop_engine_steps_outrun_total",
    "zerohop_cache_misses_total",
    "zerohop_cache_missed_tokens_total",
    "zerohop_prompt_tokens_cached_total",
    "cortex_kv_cache_hit_rate",
    "anthropic_kernel_cache_hit_rate",
    "anthropic_instance_cache_hit_ratio",
    "anthropic_instance_gpu_memory_used_bytes",
    "anthropic_kernel_kv_cache_fragmentation_ratio",
    "anthropic_instance_gpu_memory_fragmentation_ratio",
    "zerohop_ttft_predicted_seconds",
    "zerohop_ttft_prediction_error_seconds",
};

// An answer of a few tokens came to its end.
const Families kText{
    "anthropic_kernel_inference_ms", "anthropic_kernel_inference_p95_ms",
    "zerohop_e2e_seconds",           "zerohop_e2e_max_seconds",
    "zerohop_ttft_seconds",          "zerohop_ttft_max_seconds",
    "zerohop_itl_seconds",           "zerohop_itl_max_seconds",
    "zerohop_tpot_seconds",          "zerohop_output_tokens_total",
    "zerohop_tenant_tokens_total",
};
const Families kAnswered = both(both(kOver, kComputed), kText);
// In the dialect of Anthropic.
const std::string kVersions = "zerohop_api_versions_total";
const Families kMessage = both(kAnswered, {kVersions});

// ---- Events ----

struct Event {
  std::string name;
  std::function<void(const RunningServer&)> play;
  Families moves;
  Families perhaps = {};
  std::function<void(Config&)> configure = nullptr;
  FakeModelOptions model = never_ends();
};

// Where a tool may be called, its form is watched.
const Families kWatched{"zerohop_constraint_requests_total", "zerohop_constraint_compile_seconds",
                        "zerohop_constraint_tokens_total", "zerohop_constraint_machines",
                        "zerohop_constraint_bytes"};

const std::string kTurn = R"("max_tokens":6,"messages":[{"role":"user","content":"Hi"}])";
const std::string kBody = "{" + kTurn + "}";

std::function<void(const RunningServer&)> posts(const std::string& body, int status = 200,
                                                const std::string& path = "/v1/messages",
                                                const std::string& headers = "") {
  return [=](const RunningServer& server) {
    const Answer answer = ask(server, {path, body, headers});
    EXPECT_EQ(answer.status, status) << answer.body;
  };
}

std::vector<Event> answer_events() {
  const std::string chat = "/v1/chat/completions";
  // A fake model is quick: all of a stream may come at once.
  const Families gaps{"zerohop_itl_seconds", "zerohop_itl_max_seconds"};
  Families streamed = kMessage;
  for (const std::string& family : gaps) streamed.erase(family);
  return {
      {"a whole answer", posts(kBody), kMessage, kComputedPerhaps},
      {"a whole answer of the other dialect", posts(kBody, 200, chat), kAnswered, kComputedPerhaps},
      {"a streamed answer", posts(R"({"stream":true,)" + kTurn + "}"),
       both(streamed, {"anthropic_direct_stream_first_token_seconds"}),
       both(kComputedPerhaps, gaps)},
      {"a count of tokens",
       posts(kBody, 200, "/v1/messages/count_tokens"),
       both(kOver, {kVersions}),
       {"anthropic_kernel_tokenizer_latency_ms", "anthropic_kernel_tokenizer_adaptation_score"}},
      {"labels and the result of a tool",
       posts(R"({"max_tokens":6,"metadata":{"channel":"web","intent":"refund"},)"
             R"("tools":[{"name":"look","input_schema":{"type":"object"}}],"messages":[)"
             R"({"role":"user","content":"Hi"},)"
             R"({"role":"assistant","content":[)"
             R"({"type":"tool_use","id":"t1","name":"look","input":{}}]},)"
             R"({"role":"user","content":[)"
             R"({"type":"tool_result","tool_use_id":"t1","content":"ok"}]}]})"),
       both(kMessage,
            {"zerohop_label_requests_total", "zerohop_label_tokens_total",
             "chat_completion_success_rate", "avg_tokens_per_response", "tool_call_success_rate"}),
       both(kComputedPerhaps, kWatched),
       [](Config& config) {
         config.metrics.labels = {"channel", "intent", "tool"};
       }},
      {"an answer that costs money", posts(kBody),
       both(kMessage, {"zerohop_tenant_cost_microdollars_total"}), kComputedPerhaps,
       [](Config& config) {
         config.limits.prices = {{"*", "input=1000000 output=2000000"}};
       }},
      {"an objective", posts(kBody),
       both(kMessage, {"zerohop_slo_total", "zerohop_slo_good_total"}), kComputedPerhaps,
       [](Config& config) {
         config.slo.objectives = {{"up", R"({"indicator":"availability","target":0.9})"}};
       }},
  };
}

const std::string kPoint =
    R"({"type":"object","properties":{"name":{"enum":["a","b"]}},"required":["name"],)"
    R"("additionalProperties":false})";
const std::string kPattern =
    R"({"type":"object","properties":{"a":{"type":"string","pattern":"(b)\\1"}}})";

std::string formatted(const std::string& schema, int max_tokens) {
  return R"({"max_tokens":)" + std::to_string(max_tokens) +
         R"(,"messages":[{"role":"user","content":"Hi"}],)"
         R"("output_config":{"format":{"type":"json_schema","schema":)" +
         schema + "}}}";
}

std::vector<Event> constraint_events() {
  const auto wide = [](Config& config) { config.engine.context_tokens = 4'096; };
  // A random model wants what is not allowed sooner or later.
  const Families masked{
      "anthropic_kernel_schema_resamples_total",
      "anthropic_kernel_schema_resample_microseconds_total",
      "zerohop_constraint_legal_mass",
      "zerohop_constraint_masks_total",
      "zerohop_constraint_mask_microseconds_total",
      "zerohop_constraint_mask_microseconds_max",
  };
  const Families compiled{"zerohop_constraint_requests_total",
                          "zerohop_constraint_compile_seconds"};
  const Families tokenized{"anthropic_kernel_tokenizer_latency_ms",
                           "anthropic_kernel_tokenizer_adaptation_score"};
  return {
      {"an answer with a schema", posts(formatted(kPoint, 300)),
       both(both(kMessage, compiled),
            both(masked, {"zerohop_constraint_tokens_total", "zerohop_constraint_machines",
                          "zerohop_constraint_bytes"})),
       both(kComputedPerhaps, {"zerohop_draft_tokens_total", "zerohop_draft_steps_total",
                               "zerohop_draft_acceptance", "zerohop_constraint_answers_total"}),
       wide, FakeModelOptions{}},
      {"a schema that cannot be enforced", posts(formatted(kPattern, 300), 400),
       both(kRefused, {kVersions, "zerohop_constraint_refusals_total"}), both(compiled, tokenized),
       wide},
      {"a schema of which a part is not enforced",
       posts(R"({"max_tokens":6,"messages":[{"role":"user","content":"Hi"}],)"
             R"("tools":[{"name":"odd","input_schema":)" +
             kPattern + "}]}"),
       both(kMessage, {"zerohop_constraint_relaxed_total"}),
       both(kComputedPerhaps, both(kWatched, {"zerohop_constraint_refusals_total"})), wide},
      {"not even the shortest answer fits", posts(formatted(kPoint, 1), 400),
       both(kRefused, {kVersions, "zerohop_constraint_answers_total"}), both(compiled, tokenized),
       wide},
  };
}

std::vector<Event> door_events() {
  return {
      {"nothing", [](const RunningServer&) {}, {}},
      {"a probe", [](const RunningServer& server) { get(server, "/healthz"); }, {}},
      {"a body that is wrong", posts(R"({"messages":5})", 400), both(kRefused, {kVersions})},
      {"a path that is none", posts(kBody, 404, "/v1/nothing"), {}},
      {"a request beyond a limit",
       [](const RunningServer& server) {
         posts(R"({"messages":5})", 400)(server);
         posts(kBody, 429)(server);
       },
       both(kRefused, {kVersions}),
       {},
       [](Config& config) {
         config.limits.tenant_defaults = {{"requests_per_minute", "1"}};
       }},
      {"a gateway in front",
       [](const RunningServer& server) {
         ask(server, {"/livez", "", "X-Kong-Request-Id: 1\r\n", "GET"});
       },
       {"zerohop_gateway_requests_total"}},
  };
}

// ---- Playing them ----

MetricsPage page_of(const RunningServer& server) {
  const TestRequest look{"/metrics", "", "", "GET"};
  const bool admin = server.admin_port() != 0;
  return families_of((admin ? ask_admin(server, look) : ask(server, look)).body);
}

std::string list_of(const Families& families) {
  std::string list;
  for (const std::string& family : families) list += "\n  " + family;
  return list;
}

// An answer is out before it is counted, so what is to move is waited for.
void expect_moves(const RunningServer& server, const MetricsPage& before, const Families& must,
                  const Families& may) {
  Families changed;
  EXPECT_TRUE(eventually([&] {
    server.settle();
    changed = moved(before, page_of(server));
    return std::ranges::includes(changed, must);
  })) << "moved:"
      << list_of(changed) << "\nnot all of:" << list_of(must);
  Families odd;
  const Families known = both(both(must, may), kAlways);
  std::ranges::set_difference(changed, known, std::inserter(odd, odd.begin()));
  EXPECT_TRUE(odd.empty()) << "moved as well:" << list_of(odd);
}

void play(const Event& event) {
  SCOPED_TRACE(event.name);
  TestServerOptions options{event.model};
  options.configure = event.configure;
  const RunningServer server(options);
  const MetricsPage before = page_of(server);
  event.play(server);
  expect_moves(server, before, event.moves, event.perhaps);
}

TEST(ServerMetricEvents, AnswersMoveTheirFamiliesAndNoOthers) {
  for (const Event& event : answer_events()) play(event);
}

TEST(ServerMetricEvents, AClientThatLeavesMovesItsFamiliesAndNoOthers) {
  Gate gate(4);
  TestServerOptions options{never_ends()};
  options.gate = &gate;
  const RunningServer server(options);
  const MetricsPage before = page_of(server);
  {
    Socket client(server.port());
    client.send(bytes_of({"/v1/messages", R"({"stream":true,)" + kTurn + "}", ""}));
    std::string bytes;
    while (bytes.find("content_block_delta") == bytes.npos) bytes += client.receive();
    ASSERT_TRUE(eventually([&] { return gate.reached(); }));
    client.close_hard();
  }
  ASSERT_TRUE(eventually([&] { return server.service().admission.in_flight() == 0; }));
  gate.open();
  const Families begun{kVersions,
                       "zerohop_cancellations_total",
                       "zerohop_output_tokens_total",
                       "zerohop_tenant_tokens_total",
                       "zerohop_ttft_seconds",
                       "zerohop_ttft_max_seconds",
                       "anthropic_direct_stream_first_token_seconds"};
  const Families perhaps{"zerohop_itl_seconds", "zerohop_itl_max_seconds"};
  expect_moves(server, before, both(both(kOver, kComputed), begun),
               both(kComputedPerhaps, perhaps));
}

TEST(ServerMetricEvents, ConstraintsMoveTheirFamiliesAndNoOthers) {
  for (const Event& event : constraint_events()) play(event);
}

TEST(ServerMetricEvents, TheDoorMovesItsFamiliesAndNoOthers) {
  for (const Event& event : door_events()) play(event);
}

TEST(ServerMetricEvents, KeysMoveTheirFamiliesAndNoOthers) {
  const TestFolder folder;
  TestServerOptions options{never_ends()};
  options.keys = folder.path() / "keys.sqlite";
  options.admin_token = kAdminToken;
  const auto make_key = [&options] {
    EXPECT_TRUE(KeyStore::open(options.keys).value()->create_key({}, SteadyClock().wall()).ok());
  };
  make_key();
  const RunningServer server(options);
  MetricsPage before = page_of(server);
  make_key();
  expect_moves(server, before, {"zerohop_keys", "zerohop_key_reloads_total"}, {});
  before = page_of(server);
  posts(kBody, 401, "/v1/messages", "x-api-key: wrong\r\n")(server);
  expect_moves(server, before, both(kRefused, {"zerohop_auth_failures_total"}), {});
}

TEST(ServerMetricEvents, AReloadMovesItsFamilyAndNoOther) {
  TestServerOptions options{never_ends()};
  options.admin_token = kAdminToken;
  options.read_config = [] { return load_config({}); };
  const RunningServer server(options);
  const MetricsPage before = page_of(server);
  ASSERT_EQ(ask_admin(server, {"/admin/reload", "", ""}).status, 200);
  expect_moves(server, before, {"zerohop_config_reloads_total"}, {});
}

}  // namespace
}  // namespace zerohop

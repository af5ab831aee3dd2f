// Events in a whole server move the families that are theirs. That no other event moves them is
// tested family by family in telemetry/metrics_events_test.cc.
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "app/machine.h"
#include "app/test_server.h"
#include "telemetry/metrics_test_kit.h"

namespace zerohop {
namespace {

MetricsPage page_of(const RunningServer& server) {
  return families_of(get(server, "/metrics").body);
}

constexpr const char* kBody =
    R"({"model":"fake","max_tokens":6,"metadata":{"channel":"web","intent":"refund"},)"
    R"("messages":[{"role":"user","content":"Hi"}]})";

// What a model request moves that is answered with a few tokens.
const std::set<std::string> kAnswered{
    "anthropic_direct_request_duration_seconds",
    "anthropic_kernel_inference_ms",
    "anthropic_kernel_inference_p95_ms",
    "anthropic_kernel_state_seconds",
    "anthropic_kernel_tokenizer_latency_ms",
    "anthropic_kernel_tokenizer_adaptation_score",
    "anthropic_kernel_kv_cache_fragmentation_p95",
    "cortex_cuda_stream_latency_seconds",
    "zerohop_e2e_max_seconds",
    "zerohop_e2e_seconds",
    "zerohop_engine_step_max_seconds",
    "zerohop_engine_step_seconds",
    "zerohop_engine_steps_total",
    "zerohop_http_requests_total",
    "zerohop_output_tokens_total",
    "zerohop_prompt_tokens_total",
    "zerohop_queue_max_seconds",
    "zerohop_queue_seconds",
    "zerohop_tenant_requests_total",
    "zerohop_tenant_tokens_total",
    "zerohop_tokens_charged_total",
    "zerohop_tpot_seconds",
    "zerohop_ttft_max_seconds",
    "zerohop_ttft_seconds",
};

// Families that a refusal must leave alone.
const std::set<std::string> kNotRefused{
    "anthropic_kernel_inference_ms", "zerohop_ttft_seconds",        "zerohop_e2e_seconds",
    "zerohop_queue_seconds",         "zerohop_output_tokens_total", "zerohop_prompt_tokens_total",
    "zerohop_tenant_tokens_total",
};

TEST(ServerMetrics, AnAnswerMovesItsFamilies) {
  const RunningServer server(never_ends());
  const MetricsPage before = page_of(server);
  ASSERT_EQ(post(server, "/v1/messages", kBody).status, 200);
  server.settle();
  const std::set<std::string> families = moved(before, page_of(server));
  for (const std::string& family : kAnswered) {
    EXPECT_TRUE(families.contains(family)) << family << " did not move";
  }
  for (const char* family :
       {"anthropic_direct_error_count", "zerohop_refusals_total", "zerohop_cancellations_total",
        "zerohop_label_requests_total", "anthropic_direct_stream_first_token_seconds"}) {
    EXPECT_FALSE(families.contains(family)) << family << " moved";
  }
}

TEST(ServerMetrics, ARefusalMovesErrorsAndNoTimesOfAnswers) {
  const RunningServer server(never_ends());
  const MetricsPage before = page_of(server);
  ASSERT_EQ(post(server, "/v1/messages", R"({"messages":5})").status, 400);
  server.settle();
  const std::set<std::string> families = moved(before, page_of(server));
  for (const char* family : {"anthropic_direct_error_count", "zerohop_refusals_total",
                             "anthropic_direct_request_duration_seconds"}) {
    EXPECT_TRUE(families.contains(family)) << family << " did not move";
  }
  for (const std::string& family : kNotRefused) {
    EXPECT_FALSE(families.contains(family)) << family << " moved";
  }
  EXPECT_EQ(metric(server, "anthropic_direct_error_count", R"(error_type="invalid_request_error")"),
            1);
}

TEST(ServerMetrics, AProbeIsNoModelRequest) {
  const RunningServer server(never_ends());
  const MetricsPage before = page_of(server);
  ASSERT_EQ(get(server, "/healthz").status, 200);
  const std::set<std::string> families = moved(before, page_of(server));
  EXPECT_TRUE(families.contains("zerohop_http_requests_total"));
  EXPECT_FALSE(families.contains("zerohop_tenant_requests_total"));
  EXPECT_FALSE(families.contains("anthropic_direct_request_duration_seconds"));
}

TEST(ServerMetrics, OnlyAStreamHasTheTimeToItsFirstToken) {
  const RunningServer server(never_ends());
  std::string body = kBody;
  body.insert(1, R"("stream":true,)");
  ASSERT_EQ(post(server, "/v1/messages", body).status, 200);
  server.settle();
  EXPECT_EQ(metric(server, "anthropic_direct_stream_first_token_seconds_count", ""), 1);
  EXPECT_GT(metric(server, "cortex_cuda_stream_latency_seconds_count", R"(stage="write")"), 0);
}

// Nobody reads it before its end, and yet each of its tokens has its time.
TEST(ServerMetrics, AWholeAnswerIsTimedByItsTokens) {
  const RunningServer server(never_ends());
  ASSERT_EQ(post(server, "/v1/messages", kBody).status, 200);
  server.settle();
  EXPECT_GE(metric(server, "zerohop_itl_seconds_count", R"(class="standard")"), 2);
  EXPECT_EQ(metric(server, "zerohop_ttft_seconds_count", R"(class="standard")"), 1);
  EXPECT_LT(metric(server, "zerohop_ttft_seconds_sum", R"(class="standard")"),
            metric(server, "zerohop_e2e_seconds_sum", R"(class="standard")"));
}

TEST(ServerMetrics, LabelsOfMetadataCountWhereTheyAreAllowed) {
  TestServerOptions options;
  options.model = never_ends();
  options.configure = [](Config& config) { config.metrics.labels = {"channel"}; };
  const RunningServer server(options);
  ASSERT_EQ(post(server, "/v1/messages", kBody).status, 200);
  server.settle();
  EXPECT_EQ(
      metric(server, "zerohop_label_requests_total", R"(label="channel",value="web",outcome="ok")"),
      1);
  EXPECT_EQ(metric(server, "chat_completion_success_rate", R"(channel="web")"), 1);
  ASSERT_EQ(post(server, "/v1/completions",
                 R"({"prompt":"Hi","max_tokens":6,"metadata":{"channel":"desk"}})")
                .status,
            200);
  server.settle();
  EXPECT_EQ(metric(server, "zerohop_label_requests_total",
                   R"(label="channel",value="desk",outcome="ok")"),
            1);
  EXPECT_EQ(get(server, "/metrics").body.find("refund"), std::string::npos);
}

TEST(ServerMetrics, MemoryIsThatOfModelAndCells) {
  const RunningServer server(never_ends());
  const double total = metric(server, "anthropic_instance_gpu_memory_total_bytes", "");
  const ModelInfo& info = server.service().tier().model().info();
  const auto cells = static_cast<double>(server.snapshot().cells_total);
  EXPECT_EQ(total, static_cast<double>(info.file_bytes) +
                       cells * static_cast<double>(info.kv_bytes_per_cell));
}

TEST(ServerMetrics, HasAPageForInferenceRoutersWhereOneIsWanted) {
  EXPECT_EQ(get(RunningServer(never_ends()), "/metrics/inference-extension").status, 404);
  TestServerOptions options;
  options.model = never_ends();
  options.configure = [](Config& config) { config.metrics.inference_extension = true; };
  const RunningServer server(options);
  const Answer page = get(server, "/metrics/inference-extension");
  EXPECT_EQ(page.status, 200);
  for (const char* name :
       {"vllm:num_requests_waiting{", "vllm:num_requests_running{", "vllm:kv_cache_usage_perc{",
        "vllm:gpu_cache_usage_perc{", "vllm:cache_config_info{"}) {
    EXPECT_NE(page.body.find(name), std::string::npos) << name;
  }
}

TEST(OomKills, AreReadFromTheEventsOfTheCgroup) {
  std::istringstream events("low 0\nhigh 3\nmax 5\noom 2\noom_kill 7\noom_group_kill 0\n");
  EXPECT_EQ(oom_kills_in(events), 7u);
  std::istringstream none("low 0\nhigh 3\n");
  EXPECT_EQ(oom_kills_in(none), std::nullopt);
}

}  // namespace
}  // namespace zerohop

#include "telemetry/metrics.h"

#include <gtest/gtest.h>

#include "telemetry/metrics_test_kit.h"

namespace zerohop {
namespace {

const MetricsIdentity kIdentity{"i", "p"};

TEST(Metrics, ShowsEveryRefusalCauseFromTheStart) {
  MetricsRegistry registry(kIdentity);
  Metrics metrics(registry);
  metrics.count_refusal(ErrorCode::kOverloaded);
  metrics.count_refusal(ErrorCode::kOverloaded);
  metrics.count_refusal(ErrorCode::kCancelled);  // never reaches a client
  EXPECT_EQ(value_of(registry, "zerohop_refusals_total", "cause=\"overloaded\""), "2");
  EXPECT_EQ(value_of(registry, "zerohop_refusals_total", "cause=\"rate_limited\""), "0");
  EXPECT_EQ(value_of(registry, "zerohop_refusals_total", "cause=\"cancelled\""), "missing");
}

TEST(Metrics, CountsRequestsByRouteAndStatus) {
  MetricsRegistry registry(kIdentity);
  Metrics metrics(registry);
  metrics.count_http_request("/v1/messages", 200);
  metrics.count_http_request("/v1/messages", 529);
  metrics.count_http_request("/v1/messages", 529);
  EXPECT_EQ(
      value_of(registry, "zerohop_http_requests_total", "route=\"/v1/messages\",status=\"529\""),
      "2");
}

TEST(Metrics, CountsCancellationsByPhase) {
  MetricsRegistry registry(kIdentity);
  Metrics metrics(registry);
  metrics.count_cancellation(CancelPhase::kQueued);
  metrics.count_cancellation(CancelPhase::kDecode);
  EXPECT_EQ(value_of(registry, "zerohop_cancellations_total", "phase=\"queued\""), "1");
  EXPECT_EQ(value_of(registry, "zerohop_cancellations_total", "phase=\"prefill\""), "0");
  EXPECT_EQ(value_of(registry, "zerohop_cancellations_total", "phase=\"decode\""), "1");
}

TEST(Metrics, SaysWhatWasBuilt) {
  MetricsRegistry registry(kIdentity);
  Metrics metrics(registry);
  metrics.set_build_info("1.2.3", "0.5.0");
  EXPECT_EQ(value_of(registry, "zerohop_build_info", "version=\"1.2.3\",libllama=\"0.5.0\""), "1");
}

TEST(ExportEngineSnapshot, CopiesTheLatestSnapshotAtEachScrape) {
  MetricsRegistry registry(kIdentity);
  VirtualClock clock;
  EngineSnapshot snapshot;
  export_engine_snapshot(registry, clock, "small", [&snapshot] { return snapshot; });

  snapshot.queued = 3;
  snapshot.decoding = 2;
  snapshot.cells_total = 100;
  snapshot.cells_reserved = 30;
  snapshot.cells_cached = 50;
  snapshot.steps = 7;
  snapshot.prompt_tokens_computed = 25;
  snapshot.prompt_tokens_cached = 75;
  snapshot.tokens_charged = 31;
  EXPECT_EQ(value_of(registry, "zerohop_engine_queued"), "3");
  EXPECT_EQ(value_of(registry, "zerohop_engine_decoding"), "2");
  EXPECT_EQ(value_of(registry, "zerohop_engine_steps_total"), "7");
  EXPECT_EQ(value_of(registry, "zerohop_kv_cells", "state=\"free\""), "20");
  EXPECT_EQ(value_of(registry, "zerohop_kv_cells", "state=\"cached\""), "50");
  EXPECT_EQ(value_of(registry, "zerohop_prompt_tokens_total"), "100");
  EXPECT_EQ(value_of(registry, "zerohop_prompt_tokens_cached_total"), "75");
  EXPECT_EQ(value_of(registry, "zerohop_tokens_charged_total"), "31");
  EXPECT_EQ(value_of(registry, "anthropic_kernel_cache_hit_rate"), "0.75");

  snapshot.constraints = {.checks = 10, .misses = 4, .legal_mass = 1.0, .forced_tokens = 3};
  snapshot.constraints.masks_built = 2;
  snapshot.constraints.mask_time = std::chrono::milliseconds(500);
  snapshot.constraints.machine_bytes = 77;
  EXPECT_EQ(value_of(registry, "zerohop_constraint_tokens_total", "event=\"missed\""), "4");
  EXPECT_EQ(value_of(registry, "zerohop_constraint_tokens_total", "event=\"forced\""), "3");
  EXPECT_EQ(value_of(registry, "zerohop_constraint_legal_mass"), "0.25");
  EXPECT_EQ(value_of(registry, "zerohop_constraint_mask_microseconds_total"), "500000");
  EXPECT_EQ(value_of(registry, "zerohop_constraint_bytes", "kind=\"machines\""), "77");

  snapshot.drafts = {.steps = 3, .drafted = 8, .accepted = 6};
  EXPECT_EQ(value_of(registry, "zerohop_draft_tokens_total", "event=\"accepted\""), "6");
  EXPECT_EQ(value_of(registry, "zerohop_draft_tokens_total", "event=\"rejected\""), "2");
  EXPECT_EQ(value_of(registry, "zerohop_draft_steps_total"), "3");
  EXPECT_EQ(value_of(registry, "zerohop_draft_acceptance"), "0.75");

  snapshot.cells_reserved = 80;  // overlaps what is cached
  EXPECT_EQ(value_of(registry, "zerohop_kv_cells", "state=\"free\""), "0");
}

TEST(ExportEngineSnapshot, HitRateIsZeroBeforeTheFirstPrompt) {
  MetricsRegistry registry(kIdentity);
  VirtualClock clock;
  export_engine_snapshot(registry, clock, "small", [] { return EngineSnapshot{}; });
  EXPECT_EQ(value_of(registry, "anthropic_kernel_cache_hit_rate"), "0");
}

TEST(ExportEngineSnapshot, OutputRateIsMeasuredOverAtLeastASecond) {
  MetricsRegistry registry(kIdentity);
  VirtualClock clock;
  EngineSnapshot snapshot;
  export_engine_snapshot(registry, clock, "small", [&snapshot] { return snapshot; });
  const auto rate = [&registry] {
    return value_of(registry, "anthropic_kernel_output_tokens_per_second");
  };
  snapshot.output_tokens = 100;
  clock.advance(std::chrono::seconds{2});
  EXPECT_EQ(rate(), "50");
  snapshot.output_tokens = 5'000;
  clock.advance(std::chrono::milliseconds{999});
  EXPECT_EQ(rate(), "50");
  clock.advance(std::chrono::milliseconds{1});
  EXPECT_EQ(rate(), "4900");
  clock.advance(std::chrono::seconds{1});
  EXPECT_EQ(rate(), "0");
}

// Each call of `latest` finds that the engine has gone on.
TEST(ExportEngineSnapshot, TakesOneSnapshotForAPage) {
  MetricsRegistry registry(kIdentity);
  VirtualClock clock;
  int calls = 0;
  export_engine_snapshot(registry, clock, "small", [&calls] {
    ++calls;
    EngineSnapshot snapshot;
    snapshot.prompt_tokens_computed = 100;
    snapshot.prompt_tokens_cached = static_cast<std::uint64_t>(100 * calls);
    return snapshot;
  });
  EXPECT_EQ(calls, 0);
  const std::string page = registry.prometheus_text();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(value_of(page, "zerohop_prompt_tokens_total"), "200");
  EXPECT_EQ(value_of(page, "anthropic_kernel_cache_hit_rate"), "0.5");
  EXPECT_EQ(value_of(page, "anthropic_instance_cache_hit_ratio"), "0.5");
  EXPECT_EQ(value_of(page, "cortex_kv_cache_hit_rate", "model=\"small\",cause=\"hit\""), "0.5");
  registry.prometheus_text();
  EXPECT_EQ(calls, 2);
}

TEST(ExportEngineSnapshot, CopiesCausesLevelsAndRungs) {
  MetricsRegistry registry(kIdentity);
  VirtualClock clock;
  EngineSnapshot engine;
  export_engine_snapshot(registry, clock, "small", [&engine] { return engine; });
  engine.prompt_tokens_computed = 60;
  engine.prompt_tokens_cached = 40;
  engine.misses[static_cast<std::size_t>(MissCause::kSystemChanged)] = 3;
  engine.missed_tokens[static_cast<std::size_t>(MissCause::kSystemChanged)] = 20;
  engine.host_bytes = 5;
  engine.host_bytes_max = 9;
  engine.tokens_saved = 11;
  engine.prompt_tokens_restored = 12;
  engine.rung = PressureRung::kCompact;
  engine.rung_entries[static_cast<std::size_t>(PressureRung::kCompact)] = 2;
  engine.parks_for_fairness = 4;
  engine.retries_not_finite = 1;
  const std::string cause = "cause=\"system_changed\"";
  EXPECT_EQ(value_of(registry, "zerohop_cache_misses_total", cause), "3");
  EXPECT_EQ(value_of(registry, "zerohop_cache_missed_tokens_total", cause), "20");
  EXPECT_EQ(value_of(registry, "cortex_kv_cache_hit_rate", "model=\"small\"," + cause), "0.2");
  EXPECT_EQ(value_of(registry, "cortex_kv_cache_hit_rate", "model=\"small\",cause=\"hit\""), "0.4");
  EXPECT_EQ(value_of(registry, "anthropic_instance_cache_hit_ratio"), "0.4");
  EXPECT_EQ(value_of(registry, "zerohop_cache_host_bytes", "kind=\"used\""), "5");
  EXPECT_EQ(value_of(registry, "zerohop_cache_host_bytes", "kind=\"max\""), "9");
  EXPECT_EQ(value_of(registry, "zerohop_cache_tokens_total", "event=\"saved\""), "11");
  EXPECT_EQ(value_of(registry, "zerohop_cache_tokens_total", "event=\"restored\""), "12");
  EXPECT_EQ(value_of(registry, "anthropic_kernel_pressure_rung"), "3");
  EXPECT_EQ(value_of(registry, "zerohop_pressure_entries_total", "rung=\"compact\""), "2");
  EXPECT_EQ(value_of(registry, "zerohop_parks_total", "reason=\"fairness\""), "4");
  EXPECT_EQ(value_of(registry, "anthropic_kernel_internal_retries_total", "cause=\"not_finite\""),
            "1");
}

}  // namespace
}  // namespace zerohop

#include "telemetry/metrics.h"

#include <memory>
#include <string>
#include <utility>

#include "telemetry/metrics_cache.h"
#include "telemetry/metrics_constraints.h"
#include "telemetry/rate_meter.h"

namespace zerohop {
namespace {

// The families of the engine, its cells and the tokens.
class EngineExport {
 public:
  EngineExport(MetricsRegistry& registry, const Clock& clock)
      : steps_(registry.counter("zerohop_engine_steps_total")),
        prompt_tokens_(registry.counter("zerohop_prompt_tokens_total")),
        prompt_tokens_cached_(registry.counter("zerohop_prompt_tokens_cached_total")),
        output_tokens_(registry.counter("zerohop_output_tokens_total")),
        tokens_charged_(registry.counter("zerohop_tokens_charged_total")),
        thread_changes_(registry.counter("zerohop_engine_thread_changes_total")),
        steps_outrun_(registry.counter("zerohop_engine_steps_outrun_total")),
        drafted_(registry.counter("zerohop_draft_tokens_total", {"drafted"})),
        drafts_accepted_(registry.counter("zerohop_draft_tokens_total", {"accepted"})),
        drafts_rejected_(registry.counter("zerohop_draft_tokens_total", {"rejected"})),
        draft_steps_(registry.counter("zerohop_draft_steps_total")),
        draft_acceptance_(registry.gauge("zerohop_draft_acceptance")),
        threads_(registry.gauge("zerohop_engine_threads")),
        queued_(registry.gauge("zerohop_engine_queued")),
        prefilling_(registry.gauge("zerohop_engine_prefilling")),
        decoding_(registry.gauge("zerohop_engine_decoding")),
        paused_(registry.gauge("zerohop_engine_paused")),
        cells_reserved_(registry.gauge("zerohop_kv_cells", {"reserved"})),
        cells_cached_(registry.gauge("zerohop_kv_cells", {"cached"})),
        cells_active_(registry.gauge("zerohop_kv_cells", {"active"})),
        cells_pinned_(registry.gauge("zerohop_kv_cells", {"pinned"})),
        cells_free_(registry.gauge("zerohop_kv_cells", {"free"})),
        cache_hit_rate_(registry.gauge("anthropic_kernel_cache_hit_rate")),
        output_rate_(registry.gauge("anthropic_kernel_output_tokens_per_second")),
        output_meter_(clock) {}

  void copy(const EngineSnapshot& snapshot) {
    steps_.publish(snapshot.steps);
    prompt_tokens_.publish(snapshot.prompt_tokens());
    prompt_tokens_cached_.publish(snapshot.prompt_tokens_cached);
    output_tokens_.publish(snapshot.output_tokens);
    tokens_charged_.publish(snapshot.tokens_charged);
    thread_changes_.publish(snapshot.thread_changes);
    steps_outrun_.publish(snapshot.steps_outrun);
    copy_drafts(snapshot.drafts);
    threads_.set(snapshot.threads);
    queued_.set(snapshot.queued);
    prefilling_.set(snapshot.prefilling);
    decoding_.set(snapshot.decoding);
    paused_.set(snapshot.paused);
    copy_cells(snapshot);
    cache_hit_rate_.set(snapshot.cache_hit_rate());
    output_rate_.set(output_meter_.read(snapshot.output_tokens));
  }

 private:
  void copy_drafts(const DraftCounts& drafts) {
    drafted_.publish(drafts.drafted);
    drafts_accepted_.publish(drafts.accepted);
    drafts_rejected_.publish(drafts.rejected());
    draft_steps_.publish(drafts.steps);
    draft_acceptance_.set(drafts.acceptance());
  }

  void copy_cells(const EngineSnapshot& snapshot) {
    cells_reserved_.set(snapshot.cells_reserved);
    cells_cached_.set(snapshot.cells_cached);
    cells_active_.set(snapshot.cells_active);
    cells_pinned_.set(snapshot.cells_pinned);
    // A reservation may cover cells that a cached prefix already holds, so the sum can exceed the
    // total for a moment; free cells are then 0, never negative.
    const std::uint64_t used =
        std::uint64_t{snapshot.cells_active} + snapshot.cells_reserved + snapshot.cells_cached;
    cells_free_.set(
        used >= snapshot.cells_total ? 0.0 : static_cast<double>(snapshot.cells_total - used));
  }

  Counter steps_, prompt_tokens_, prompt_tokens_cached_, output_tokens_, tokens_charged_;
  Counter thread_changes_, steps_outrun_;
  Counter drafted_, drafts_accepted_, drafts_rejected_, draft_steps_;
  Gauge draft_acceptance_;
  Gauge threads_, queued_, prefilling_, decoding_, paused_;
  Gauge cells_reserved_, cells_cached_, cells_active_, cells_pinned_, cells_free_;
  Gauge cache_hit_rate_, output_rate_;
  RateMeter output_meter_;
};

}  // namespace

Metrics::Metrics(MetricsRegistry& registry)
    : http_connections(registry.gauge("zerohop_http_connections")),
      requests_in_flight(registry.gauge("zerohop_requests_in_flight")),
      keys(registry.gauge("zerohop_keys")),
      constraint_compile_seconds(registry.histogram("zerohop_constraint_compile_seconds")),
      registry_(registry),
      cancellations_{registry.counter("zerohop_cancellations_total", {"queued"}),
                     registry.counter("zerohop_cancellations_total", {"prefill"}),
                     registry.counter("zerohop_cancellations_total", {"decode"})} {
  // There from the start, or the first failure would be no increase.
  for (const char* outcome : {"done", "failed"}) {
    registry.counter("zerohop_key_reloads_total", {outcome});
  }
  for (const char* result : {"taken", "failed"}) {
    registry.counter("zerohop_tls_reloads_total", {result});
  }
  for (const char* outcome : {"applied", "unchanged", "failed"}) {
    registry.counter("zerohop_config_reloads_total", {outcome});
  }
  for (std::size_t i = 0; i < kErrorCodes; ++i) {
    const ErrorTraits& traits = error_traits(static_cast<ErrorCode>(i));
    if (traits.status == 0) continue;
    refusals_[i] = registry.counter("zerohop_refusals_total", {traits.name});
  }
}

void Metrics::publish_connections(const ConnectionTotals& totals) {
  const auto refused = [this](std::string_view cause, std::uint64_t total) {
    registry_.counter("zerohop_http_connections_refused_total", {cause}).publish(total);
  };
  refused("limit", totals.over_limit);
  refused("address", totals.over_address_limit);
  refused("proxy", totals.proxy_refused);
  refused("tls", totals.tls_faults);
  const std::string_view family = "zerohop_tls_handshakes_total";
  registry_.counter(family, {"full"}).publish(totals.tls_handshakes - totals.tls_resumed);
  registry_.counter(family, {"resumed"}).publish(totals.tls_resumed);
}

void Metrics::count_tls_reload(TlsReload result) {
  const std::string_view label = result == TlsReload::kTaken ? "taken" : "failed";
  registry_.counter("zerohop_tls_reloads_total", {label}).add();
}

void Metrics::set_certificate_expiry(WallTime expires_at) {
  registry_.gauge("zerohop_tls_certificate_expires_at")
      .set(to_seconds(expires_at.time_since_epoch()));
}

void Metrics::count_gateway(std::string_view gateway) {
  registry_.counter("zerohop_gateway_requests_total", {gateway}).add();
}

void Metrics::count_http_request(std::string_view route, int status) {
  registry_.counter("zerohop_http_requests_total", {route, std::to_string(status)}).add();
}

void Metrics::count_refusal(ErrorCode code) {
  if (error_traits(code).status == 0) return;
  refusals_[static_cast<std::size_t>(code)].add();
}

void Metrics::count_cancellation(CancelPhase phase) {
  cancellations_[static_cast<std::size_t>(phase)].add();
}

void Metrics::count_auth_failure(std::string_view reason) {
  registry_.counter("zerohop_auth_failures_total", {reason}).add();
}

void Metrics::count_key_reload(std::string_view outcome) {
  registry_.counter("zerohop_key_reloads_total", {outcome}).add();
}

void Metrics::count_config_reload(std::string_view outcome) {
  registry_.counter("zerohop_config_reloads_total", {outcome}).add();
}

void Metrics::count_api_version(std::string_view requested, std::string_view applied) {
  registry_.counter("zerohop_api_versions_total", {requested, applied}).add();
}

void Metrics::count_prompt_rewrites(std::string_view rule, std::uint64_t pieces) {
  registry_.counter("zerohop_prompt_rewrites_total", {rule}).add(pieces);
}

void Metrics::count_profile_request(std::string_view profile) {
  registry_.counter("zerohop_profile_requests_total", {profile}).add();
}

void Metrics::count_constraint(ConstraintFrom from) {
  const std::string_view label = from == ConstraintFrom::kCache ? "hit" : "miss";
  registry_.counter("zerohop_constraint_requests_total", {label}).add();
}

void Metrics::count_constraint_refusal(std::string_view kind, std::string_view keyword) {
  registry_.counter("zerohop_constraint_refusals_total", {kind, keyword}).add();
}

void Metrics::count_constraint_relaxed() {
  registry_.counter("zerohop_constraint_relaxed_total").add();
}

void Metrics::count_constrained_answer_refused() {
  registry_.counter("zerohop_constraint_answers_total", {"refused_early"}).add();
}

void Metrics::publish_oom_kills(std::uint64_t total) {
  registry_.counter("anthropic_instance_oom_kills_total").publish(total);
}

void Metrics::set_build_info(std::string_view version, std::string_view libllama) {
  registry_.gauge("zerohop_build_info", {version, libllama}).set(1);
}

void export_engine_snapshot(MetricsRegistry& registry, const Clock& clock, std::string_view model,
                            std::function<EngineSnapshot()> latest) {
  auto engine = std::make_shared<EngineExport>(registry, clock);
  auto cache = copy_into_cache_families(registry, model);
  auto constraints = copy_into_constraint_families(registry);
  // One snapshot for all, so that the numbers of a page agree.
  registry.at_scrape([engine, cache = std::move(cache), constraints = std::move(constraints),
                      latest = std::move(latest)] {
    const EngineSnapshot snapshot = latest();
    engine->copy(snapshot);
    cache(snapshot);
    constraints(snapshot);
  });
}

}  // namespace zerohop

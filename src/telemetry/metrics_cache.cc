#include "telemetry/metrics_cache.h"

#include <array>
#include <cstddef>
#include <memory>

namespace zerohop {
namespace {

MissCause miss_cause(std::size_t index) { return static_cast<MissCause>(index); }

double share(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(all);
}

class CacheExport {
 public:
  CacheExport(MetricsRegistry& registry, std::string_view model)
      : host_used_(registry.gauge("zerohop_cache_host_bytes", {"used"})),
        host_max_(registry.gauge("zerohop_cache_host_bytes", {"max"})),
        host_entries_(registry.gauge("zerohop_cache_host_entries")),
        evicted_(registry.counter("zerohop_cache_tokens_total", {"evicted"})),
        saved_(registry.counter("zerohop_cache_tokens_total", {"saved"})),
        restored_(registry.counter("zerohop_cache_tokens_total", {"restored"})),
        forgotten_(registry.counter("zerohop_cache_tokens_total", {"forgotten"})),
        hit_ratio_(registry.gauge("anthropic_instance_cache_hit_ratio")),
        hit_rate_(registry.gauge("cortex_kv_cache_hit_rate", {model, "hit"})) {
    // Without a miss there is no cause.
    for (std::size_t i = 1; i < kMissCauses; ++i) {
      const std::string_view cause = miss_cause_name(miss_cause(i));
      misses_[i] = registry.counter("zerohop_cache_misses_total", {cause});
      missed_tokens_[i] = registry.counter("zerohop_cache_missed_tokens_total", {cause});
      miss_rates_[i] = registry.gauge("cortex_kv_cache_hit_rate", {model, cause});
    }
  }

  void copy(const EngineSnapshot& engine) {
    host_used_.set(static_cast<double>(engine.host_bytes));
    host_max_.set(static_cast<double>(engine.host_bytes_max));
    host_entries_.set(engine.host_entries);
    evicted_.publish(engine.tokens_evicted);
    saved_.publish(engine.tokens_saved);
    restored_.publish(engine.prompt_tokens_restored);
    forgotten_.publish(engine.tokens_forgotten);
    hit_ratio_.set(engine.cache_hit_rate());
    hit_rate_.set(engine.cache_hit_rate());
    for (std::size_t i = 1; i < kMissCauses; ++i) {
      misses_[i].publish(engine.misses[i]);
      missed_tokens_[i].publish(engine.missed_tokens[i]);
      miss_rates_[i].set(share(engine.missed_tokens[i], engine.prompt_tokens()));
    }
  }

 private:
  Gauge host_used_, host_max_, host_entries_;
  Counter evicted_, saved_, restored_, forgotten_;
  Gauge hit_ratio_, hit_rate_;
  std::array<Counter, kMissCauses> misses_, missed_tokens_;
  std::array<Gauge, kMissCauses> miss_rates_;
};

class PressureExport {
 public:
  explicit PressureExport(MetricsRegistry& registry)
      : rung_(registry.gauge("anthropic_kernel_pressure_rung")),
        fragmentation_(registry.gauge("anthropic_kernel_kv_cache_fragmentation_ratio")),
        circuit_open_(registry.gauge("zerohop_circuit_open")),
        parked_(registry.gauge("zerohop_engine_parked")),
        for_cells_(registry.counter("zerohop_parks_total", {"cells"})),
        for_fairness_(registry.counter("zerohop_parks_total", {"fairness"})),
        for_readers_(registry.counter("zerohop_parks_total", {"slow_reader"})),
        resumes_(registry.counter("zerohop_resumes_total")),
        deadlines_(registry.counter("zerohop_deadlines_refused_total")),
        soft_(registry.counter("zerohop_soft_max_tokens_total")),
        compactions_(registry.counter("zerohop_compactions_total")),
        no_room_(registry.counter("anthropic_kernel_internal_retries_total", {"no_room"})),
        fatal_(registry.counter("anthropic_kernel_internal_retries_total", {"fatal"})),
        not_finite_(registry.counter("anthropic_kernel_internal_retries_total", {"not_finite"})) {
    for (std::size_t i = 0; i < kPressureRungs; ++i) {
      const std::string_view name = pressure_rung_name(static_cast<PressureRung>(i));
      entries_[i] = registry.counter("zerohop_pressure_entries_total", {name});
    }
  }

  void copy(const EngineSnapshot& engine) {
    rung_.set(static_cast<double>(engine.rung));
    fragmentation_.set(engine.fragmentation);
    circuit_open_.set(engine.circuit_open ? 1 : 0);
    parked_.set(engine.parked_requests);
    for_cells_.publish(engine.parks_for_cells);
    for_fairness_.publish(engine.parks_for_fairness);
    for_readers_.publish(engine.parks_for_readers);
    resumes_.publish(engine.resumes);
    deadlines_.publish(engine.deadlines_refused);
    soft_.publish(engine.soft_max_tokens_applied);
    compactions_.publish(engine.compactions);
    no_room_.publish(engine.retries_no_room);
    fatal_.publish(engine.retries_fatal);
    not_finite_.publish(engine.retries_not_finite);
    for (std::size_t i = 0; i < kPressureRungs; ++i) entries_[i].publish(engine.rung_entries[i]);
  }

 private:
  Gauge rung_, fragmentation_, circuit_open_, parked_;
  Counter for_cells_, for_fairness_, for_readers_, resumes_, deadlines_, soft_, compactions_;
  Counter no_room_, fatal_, not_finite_;
  std::array<Counter, kPressureRungs> entries_;
};

}  // namespace

std::function<void(const EngineSnapshot&)> copy_into_cache_families(MetricsRegistry& registry,
                                                                    std::string_view model) {
  auto cache = std::make_shared<CacheExport>(registry, model);
  auto pressure = std::make_shared<PressureExport>(registry);
  return [cache, pressure](const EngineSnapshot& engine) {
    cache->copy(engine);
    pressure->copy(engine);
  };
}

}  // namespace zerohop

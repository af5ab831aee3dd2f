#include "telemetry/metrics_constraints.h"

#include <memory>

#include "base/clock.h"

namespace zerohop {
namespace {

class ConstraintExport {
 public:
  explicit ConstraintExport(MetricsRegistry& registry)
      : checked_(registry.counter("zerohop_constraint_tokens_total", {"checked"})),
        missed_(registry.counter("zerohop_constraint_tokens_total", {"missed"})),
        redrawn_(registry.counter("zerohop_constraint_tokens_total", {"redrawn"})),
        closing_(registry.counter("zerohop_constraint_tokens_total", {"closing"})),
        forced_(registry.counter("zerohop_constraint_tokens_total", {"forced"})),
        closed_early_(registry.counter("zerohop_constraint_answers_total", {"closed_early"})),
        refused_(registry.counter("zerohop_constraint_answers_total", {"refused"})),
        built_(registry.counter("zerohop_constraint_masks_total", {"miss"})),
        found_(registry.counter("zerohop_constraint_masks_total", {"hit"})),
        mask_time_(registry.counter("zerohop_constraint_mask_microseconds_total")),
        resamples_(registry.counter("anthropic_kernel_schema_resamples_total")),
        resample_time_(registry.counter("anthropic_kernel_schema_resample_microseconds_total")),
        legal_mass_(registry.gauge("zerohop_constraint_legal_mass")),
        mask_time_max_(registry.gauge("zerohop_constraint_mask_microseconds_max")),
        machines_(registry.gauge("zerohop_constraint_machines")),
        mask_bytes_(registry.gauge("zerohop_constraint_bytes", {"masks"})),
        machine_bytes_(registry.gauge("zerohop_constraint_bytes", {"machines"})) {}

  void copy(const ConstraintCounts& counts) {
    checked_.publish(counts.checks);
    missed_.publish(counts.misses);
    redrawn_.publish(counts.redraws);
    closing_.publish(counts.closings);
    forced_.publish(counts.forced_tokens);
    closed_early_.publish(counts.closed_early);
    refused_.publish(counts.refused);
    built_.publish(counts.masks_built);
    found_.publish(counts.mask_hits);
    const double misses = static_cast<double>(counts.misses);
    legal_mass_.set(counts.misses == 0 ? 0.0 : counts.legal_mass / misses);
    const auto mask_time = static_cast<std::uint64_t>(to_seconds(counts.mask_time) * 1e6);
    mask_time_.publish(mask_time);
    resamples_.publish(counts.misses);
    resample_time_.publish(mask_time);
    mask_time_max_.set(to_seconds(counts.mask_time_max) * 1e6);
    machines_.set(counts.machines);
    mask_bytes_.set(static_cast<double>(counts.mask_bytes));
    machine_bytes_.set(static_cast<double>(counts.machine_bytes));
  }

 private:
  Counter checked_, missed_, redrawn_, closing_, forced_;
  Counter closed_early_, refused_;
  Counter built_, found_, mask_time_, resamples_, resample_time_;
  Gauge legal_mass_, mask_time_max_, machines_, mask_bytes_, machine_bytes_;
};

}  // namespace

std::function<void(const EngineSnapshot&)> copy_into_constraint_families(
    MetricsRegistry& registry) {
  auto families = std::make_shared<ConstraintExport>(registry);
  return [families](const EngineSnapshot& engine) { families->copy(engine.constraints); };
}

}  // namespace zerohop

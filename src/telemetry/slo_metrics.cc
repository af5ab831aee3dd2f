#include "telemetry/slo_metrics.h"

#include <algorithm>

namespace zerohop {
namespace {

using Outcome = SloMetrics::Outcome;
using End = AnswerForSlo::End;

constexpr std::string_view kGood = "zerohop_slo_good_total";
constexpr std::string_view kTotal = "zerohop_slo_total";

bool is_of(const SloObjective& objective, std::string_view tier) {
  return objective.tier.empty() || objective.tier == tier;
}

bool counts(const SloObjective& objective, PriorityClass priority) {
  return !objective.priority || *objective.priority == priority;
}

Outcome within(Duration time, Duration threshold) {
  return time <= threshold ? Outcome::kGood : Outcome::kBad;
}

// Of a time that did not come to its end: nothing where it could still have been good.
std::optional<Outcome> unfinished(const AnswerForSlo& answer, Duration threshold) {
  if (answer.end == End::kFailed || answer.total > threshold) return Outcome::kBad;
  return std::nullopt;
}

std::optional<Outcome> judge(SloIndicator indicator, Duration threshold,
                             const AnswerForSlo& answer) {
  switch (indicator) {
    case SloIndicator::kTtft:
      if (answer.first_text) return within(*answer.first_text, threshold);
      if (answer.end == End::kWhole) return std::nullopt;
      return unfinished(answer, threshold);
    case SloIndicator::kItl:
      if (!answer.longest_pause) return std::nullopt;
      return within(*answer.longest_pause, threshold);
    case SloIndicator::kTotal:
      if (answer.end == End::kWhole) return within(answer.total, threshold);
      return unfinished(answer, threshold);
    case SloIndicator::kAvailability: break;
  }
  return std::nullopt;
}

}  // namespace

SloMetrics::SloMetrics(MetricsRegistry& registry, std::span<const SloObjective> objectives,
                       std::string_view tier)
    : tier_(tier) {
  for (const SloObjective& objective : objectives) {
    if (!is_of(objective, tier)) continue;
    Objective made{objective.indicator, objective.threshold, {}};
    for (std::size_t i = 0; i < kPriorityClasses; ++i) {
      const auto priority = static_cast<PriorityClass>(i);
      if (!counts(objective, priority)) continue;
      const std::string_view name = priority_class_name(priority);
      made.meters[i] = {registry.counter(kGood, {objective.name, tier, name}),
                        registry.counter(kTotal, {objective.name, tier, name})};
      series_.push_back({objective.name, priority});
    }
    const bool of_requests = objective.indicator == SloIndicator::kAvailability;
    (of_requests ? of_requests_ : of_answers_).push_back(made);
  }
}

void SloMetrics::retire_all_but(MetricsRegistry& registry,
                                std::span<const SloObjective> staying) const {
  for (const Labels& labels : series_) {
    const auto has_it = [&](const SloObjective& objective) {
      return objective.name == labels.objective && is_of(objective, tier_) &&
             counts(objective, labels.priority);
    };
    if (std::ranges::any_of(staying, has_it)) continue;
    const std::string_view priority = priority_class_name(labels.priority);
    for (const std::string_view family : {kGood, kTotal}) {
      registry.retire(family, {labels.objective, tier_, priority});
    }
  }
}

void SloMetrics::Objective::count(PriorityClass priority, Outcome outcome) const {
  std::optional<Meter> meter = meters[index_of(priority)];
  if (!meter) return;
  // In this order, so that no page shows more good ones than there were.
  meter->total.add();
  if (outcome == Outcome::kGood) meter->good.add();
}

void SloMetrics::count_request(PriorityClass priority, Outcome outcome) const {
  for (const Objective& objective : of_requests_) objective.count(priority, outcome);
}

void SloMetrics::count_answer(const AnswerForSlo& answer) const {
  for (const Objective& objective : of_answers_) {
    const auto outcome = judge(objective.indicator, objective.threshold, answer);
    if (outcome) objective.count(answer.priority, *outcome);
  }
}

}  // namespace zerohop

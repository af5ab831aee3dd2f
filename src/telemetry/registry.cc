#include "telemetry/registry.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/check.h"
#include "telemetry/prometheus_text.h"

namespace zerohop {

struct MetricsRegistry::Series {
  std::vector<std::string> values;  // of the family's labels, in the table's order
  std::variant<metric_cells::CounterCell, metric_cells::GaugeCell, metric_cells::HistogramCell>
      cell;

  Series(MetricKind kind, std::vector<std::string> label_values) : values(std::move(label_values)) {
    if (kind == MetricKind::kGauge) cell.emplace<metric_cells::GaugeCell>();
    if (kind == MetricKind::kHistogram) cell.emplace<metric_cells::HistogramCell>();
  }
};

struct MetricsRegistry::Family {
  const MetricSpec* spec;
  std::vector<std::unique_ptr<Series>> series;  // owned one by one: handles point into them

  Series* find(std::span<const std::string_view> values) const {
    for (const auto& candidate : series) {
      if (std::ranges::equal(candidate->values, values)) return candidate.get();
    }
    return nullptr;
  }

  Series& add(std::span<const std::string_view> values) {
    series.push_back(std::make_unique<Series>(
        spec->kind, std::vector<std::string>(values.begin(), values.end())));
    return *series.back();
  }
};

MetricsRegistry::MetricsRegistry(MetricsIdentity identity, std::span<const MetricSpec> table)
    : identity_(std::move(identity)) {
  families_.reserve(table.size());
  for (const MetricSpec& spec : table) families_.push_back(Family{&spec, {}});
}

MetricsRegistry::~MetricsRegistry() = default;

MetricsRegistry::Series& MetricsRegistry::find_or_add(std::string_view name, MetricKind kind,
                                                      LabelValues values) {
  const std::scoped_lock lock(mutex_);
  const auto family = std::find_if(families_.begin(), families_.end(),
                                   [name](const Family& f) { return f.spec->name == name; });
  ZH_CHECK(family != families_.end());
  ZH_CHECK(family->spec->kind == kind);
  ZH_CHECK(family->spec->labels().size() == values.size());

  const std::span<const std::string_view> wanted(values.begin(), values.size());
  if (Series* found = family->find(wanted)) return *found;
  // One place is kept for the overflow series itself.
  if (family->series.size() + 1 < kSeriesPerFamilyMax) return family->add(wanted);
  const std::vector<std::string_view> overflow(values.size(), kOverflowLabel);
  if (Series* found = family->find(overflow)) return *found;
  return family->add(overflow);
}

Counter MetricsRegistry::counter(std::string_view name, LabelValues values) {
  Series& series = find_or_add(name, MetricKind::kCounter, values);
  return Counter(&std::get<metric_cells::CounterCell>(series.cell));
}

Gauge MetricsRegistry::gauge(std::string_view name, LabelValues values) {
  Series& series = find_or_add(name, MetricKind::kGauge, values);
  return Gauge(&std::get<metric_cells::GaugeCell>(series.cell));
}

Histogram MetricsRegistry::histogram(std::string_view name, LabelValues values) {
  Series& series = find_or_add(name, MetricKind::kHistogram, values);
  return Histogram(&std::get<metric_cells::HistogramCell>(series.cell));
}

void MetricsRegistry::at_scrape(std::function<void()> refresh) {
  const std::scoped_lock lock(scrape_mutex_);
  refreshers_.push_back(std::move(refresh));
}

void MetricsRegistry::run_refreshers() const {
  const std::scoped_lock lock(scrape_mutex_);
  for (const auto& refresh : refreshers_) refresh();
}

std::string MetricsRegistry::prometheus_text() const {
  run_refreshers();
  const std::scoped_lock lock(mutex_);
  std::string out;
  for (const Family& family : families_) {
    if (family.series.empty()) continue;
    const MetricSpec& spec = *family.spec;
    append_family_head(out, spec);
    for (const auto& series : family.series) {
      std::vector<MetricLabel> labels{{"instance_id", identity_.instance_id},
                                      {"pool", identity_.pool}};
      for (std::size_t i = 0; i < series->values.size(); ++i) {
        labels.push_back({spec.labels()[i], series->values[i]});
      }
      if (const auto* counter = std::get_if<metric_cells::CounterCell>(&series->cell)) {
        append_sample(out, spec.name, labels, static_cast<double>(counter->value.load()));
      } else if (const auto* gauge = std::get_if<metric_cells::GaugeCell>(&series->cell)) {
        append_sample(out, spec.name, labels, gauge->value.load());
      } else {
        append_histogram(out, spec, labels, std::get<metric_cells::HistogramCell>(series->cell));
      }
    }
  }
  return out;
}

}  // namespace zerohop

#include "telemetry/registry.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "base/check.h"
#include "telemetry/prometheus_text.h"

namespace zerohop {
namespace {

// One text for all label values. No length of a value can make two lists look alike.
std::string key_of(std::span<const std::string_view> values) {
  std::string key;
  for (const std::string_view value : values) {
    key.append(std::to_string(value.size())).push_back(':');
    key.append(value);
  }
  return key;
}

}  // namespace

struct MetricsRegistry::Series {
  std::string labels;               // as they stand on the page, between the braces
  std::vector<std::string> values;  // of the family's own labels
  std::variant<metric_cells::CounterCell, metric_cells::GaugeCell, metric_cells::HistogramCell>
      cell;
  bool retired = false;  // under the registry's mutex_

  Series(MetricKind kind, std::string label_text, std::span<const std::string_view> label_values)
      : labels(std::move(label_text)), values(label_values.begin(), label_values.end()) {
    if (kind == MetricKind::kGauge) cell.emplace<metric_cells::GaugeCell>();
    if (kind == MetricKind::kHistogram) cell.emplace<metric_cells::HistogramCell>();
  }
};

struct MetricsRegistry::Family {
  const MetricSpec* spec;
  std::vector<std::unique_ptr<Series>> series;  // owned one by one: handles point into them
  std::unordered_map<std::string, Series*> by_values;
  std::size_t retired = 0;  // of `series`

  std::size_t shown() const { return series.size() - retired; }
};

struct MetricsRegistry::FamilyView {
  const MetricSpec* spec;
  std::vector<const Series*> series;

  void append(std::string& out) const;
  void keep(const MetricsView& view);
};

MetricsRegistry::MetricsRegistry(MetricsIdentity identity, std::span<const MetricSpec> table,
                                 std::size_t series_max)
    : identity_(std::move(identity)), series_max_(std::max<std::size_t>(series_max, 2)) {
  families_.reserve(table.size());
  for (const MetricSpec& spec : table) {
    places_.emplace(spec.name, families_.size());
    families_.push_back(Family{&spec, {}, {}, 0});
  }
}

MetricsRegistry::~MetricsRegistry() = default;

MetricsRegistry::Family& MetricsRegistry::family_of(std::string_view name) {
  const auto place = places_.find(name);
  ZH_CHECK(place != places_.end());
  return families_[place->second];
}

MetricsRegistry::Series& MetricsRegistry::find_or_add(std::string_view name, MetricKind kind,
                                                      LabelValues values) {
  const std::scoped_lock lock(mutex_);
  Family& family = family_of(name);
  ZH_CHECK(family.spec->kind == kind);
  ZH_CHECK(family.spec->labels().size() == values.size());

  const std::span<const std::string_view> wanted(values.begin(), values.size());
  const auto found = family.by_values.find(key_of(wanted));
  const bool known = found != family.by_values.end();
  if (known && !found->second->retired) return *found->second;
  // One place is kept for the overflow series itself.
  if (family.shown() + 1 < series_max_) {
    if (!known) return add(family, wanted);
    found->second->retired = false;
    --family.retired;
    return *found->second;
  }
  const std::vector<std::string_view> overflow(values.size(), kOverflowLabel);
  const auto shared = family.by_values.find(key_of(overflow));
  return shared != family.by_values.end() ? *shared->second : add(family, overflow);
}

MetricsRegistry::Series& MetricsRegistry::add(Family& family,
                                              std::span<const std::string_view> values) {
  std::vector<MetricLabel> labels{{"instance_id", identity_.instance_id}, {"pool", identity_.pool}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    labels.push_back({family.spec->labels()[i], values[i]});
  }
  family.series.push_back(std::make_unique<Series>(family.spec->kind, label_text(labels), values));
  family.by_values.emplace(key_of(values), family.series.back().get());
  return *family.series.back();
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

void MetricsRegistry::retire(std::string_view name, LabelValues values) {
  const std::scoped_lock lock(mutex_);
  Family& family = family_of(name);
  const auto found = family.by_values.find(key_of({values.begin(), values.size()}));
  if (found == family.by_values.end() || found->second->retired) return;
  found->second->retired = true;
  ++family.retired;
}

void MetricsRegistry::at_scrape(std::function<void()> refresh) {
  const std::scoped_lock lock(scrape_mutex_);
  refreshers_.push_back(std::move(refresh));
}

void MetricsRegistry::refresh() const {
  const std::scoped_lock lock(scrape_mutex_);
  for (const auto& refresh : refreshers_) refresh();
}

std::vector<MetricsRegistry::FamilyView> MetricsRegistry::view() const {
  const std::scoped_lock lock(mutex_);
  std::vector<FamilyView> views;
  views.reserve(families_.size());
  for (const Family& family : families_) {
    FamilyView& one = views.emplace_back(FamilyView{family.spec, {}});
    one.series.reserve(family.series.size());
    for (const auto& series : family.series) {
      if (!series->retired) one.series.push_back(series.get());
    }
  }
  return views;
}

void MetricsRegistry::FamilyView::append(std::string& out) const {
  bool begun = false;
  const auto begin = [&] {
    if (!begun) append_family_head(out, *spec);
    begun = true;
  };
  for (const Series* one : series) {
    if (const auto* counter = std::get_if<metric_cells::CounterCell>(&one->cell)) {
      begin();
      const std::uint64_t value = counter->value.load(std::memory_order_relaxed);
      append_sample(out, spec->name, one->labels, static_cast<double>(value));
    } else if (const auto* gauge = std::get_if<metric_cells::GaugeCell>(&one->cell)) {
      const double value = gauge->value.load(std::memory_order_relaxed);
      if (std::isnan(value)) continue;
      begin();
      append_sample(out, spec->name, one->labels, value);
    } else {
      begin();
      append_histogram(out, *spec, one->labels, std::get<metric_cells::HistogramCell>(one->cell));
    }
  }
}

// Only what the view may see.
void MetricsRegistry::FamilyView::keep(const MetricsView& view) {
  if (!view.tenant) return;
  const std::span<const std::string_view> labels = spec->labels();
  for (const std::string_view label : kClientLabels) {
    if (std::ranges::find(labels, label) != labels.end()) series.clear();
  }
  const auto place = std::ranges::find(labels, kTenantLabel);
  if (place == labels.end()) return;
  const auto index = static_cast<std::size_t>(place - labels.begin());
  // What all tenants beyond the cap share is nobody's own, whatever a tenant is called.
  std::erase_if(series, [&](const Series* one) {
    return one->values[index] != *view.tenant || one->values[index] == kOverflowLabel;
  });
}

std::string MetricsRegistry::render(const MetricsView& reader) const {
  std::string out;
  for (FamilyView& family : view()) {
    family.keep(reader);
    family.append(out);
  }
  return out;
}

void MetricsRegistry::each_family(const SeeFamily& see) const {
  std::vector<MetricPoint> points;
  for (const FamilyView& family : view()) {
    points.clear();
    for (const Series* one : family.series) {
      MetricPoint& point = points.emplace_back();
      point.label_values = one->values;
      if (const auto* counter = std::get_if<metric_cells::CounterCell>(&one->cell)) {
        point.total = counter->value.load(std::memory_order_relaxed);
      } else if (const auto* gauge = std::get_if<metric_cells::GaugeCell>(&one->cell)) {
        point.value = gauge->value.load(std::memory_order_relaxed);
      } else {
        point.histogram = &std::get<metric_cells::HistogramCell>(one->cell);
      }
    }
    if (!points.empty()) see(*family.spec, points);
  }
}

std::string MetricsRegistry::prometheus_text() const {
  refresh();
  return render();
}

}  // namespace zerohop

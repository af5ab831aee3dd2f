// MetricsRegistry: the numbers behind the metric table, and the page that /metrics answers.
//
//   MetricsRegistry registry({.instance_id = "cpu-7f3a2b1c", .pool = "cpu"});
//   Counter steps = registry.counter("zerohop_engine_steps_total");       // once, at start
//   steps.add();                                                          // hot path, no lock
//   registry.counter("zerohop_http_requests_total", {"/v1/messages", "200"}).add();  // a locked
//   lookup
//
// Owned by app, for the life of the process. All functions may be called from any thread; those
// that give out handles take a lock and search (70 ns alone, more when threads meet), so code that
// runs per token or per step fetches its handles at start. A name that the table does not hold, or
// a kind or a number of labels that differs from it, is a bug and crashes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "telemetry/handles.h"
#include "telemetry/metric_table.h"

namespace zerohop {

/// Labels that every series carries.
struct MetricsIdentity {
  std::string instance_id;
  std::string pool;
};

/// Values for the labels of a family, in the table's order.
using LabelValues = std::initializer_list<std::string_view>;

/// Who is to read a page.
struct MetricsView {
  /// A tenant: of families by tenant only its own series, and no family by what clients of all
  /// tenants chose (kClientLabels). Nothing: the operator, who sees everything.
  std::optional<std::string> tenant = {};
};

/// One series as it stands, for whoever writes the numbers down in another form than render().
struct MetricPoint {
  std::span<const std::string> label_values;               ///< in the table's order
  std::uint64_t total = 0;                                 ///< of a counter
  double value = 0;                                        ///< of a gauge; NaN: there is none now
  const metric_cells::HistogramCell* histogram = nullptr;  ///< of a histogram
};

class MetricsRegistry {
 public:
  /// Series of one family, unless more are asked for; label values beyond it are counted together
  /// under kOverflowLabel. A page then stays under 1 MB, whatever clients send.
  static constexpr std::size_t kSeriesPerFamilyMax = 200;
  static constexpr std::string_view kOverflowLabel = "other";

  /// `table` must outlive the registry. `series_max`: of one family, at least 2.
  explicit MetricsRegistry(MetricsIdentity identity,
                           std::span<const MetricSpec> table = metric_table(),
                           std::size_t series_max = kSeriesPerFamilyMax);
  ~MetricsRegistry();
  MetricsRegistry(const MetricsRegistry&) = delete;
  MetricsRegistry& operator=(const MetricsRegistry&) = delete;

  /// The series with these label values; it exists, with value 0, from the first call on.
  Counter counter(std::string_view name, LabelValues values = {});
  Gauge gauge(std::string_view name, LabelValues values = {});
  Histogram histogram(std::string_view name, LabelValues values = {});

  /// The series leaves the page and makes room for another one; handles of it stay good and go on
  /// counting. Asked for again it comes back as it is then. Nothing where there is none. For what a
  /// reload took away: a label that no longer means anything, and never what a client chose.
  void retire(std::string_view name, LabelValues values);

  /// `refresh` runs at the start of every scrape, on the scraping thread, one scrape at a time: the
  /// place to copy a published snapshot into handles. It must not block and not scrape.
  void at_scrape(std::function<void()> refresh);

  /// Runs what was given to at_scrape().
  void refresh() const;

  /// The page in the Prometheus text format, version 0.0.4, with the numbers of the last refresh().
  /// Any thread, at any time: the lock is held only while it is noted which series there are.
  /// Families without a series are left out, and so are gauges that are not a number: there is no
  /// value now. 0.12 ms for a page of 90 kB, 1.7 ms for one of 1,000 tenants.
  std::string render(const MetricsView& view = {}) const;

  /// The same numbers, family by family in the table's order; `see` gets no family without series.
  /// Any thread, like render().
  using SeeFamily = std::function<void(const MetricSpec& spec, std::span<const MetricPoint>)>;
  void each_family(const SeeFamily& see) const;

  /// refresh() and render().
  std::string prometheus_text() const;

 private:
  struct Series;
  struct Family;
  struct FamilyView;

  Series& find_or_add(std::string_view name, MetricKind kind, LabelValues values);
  Family& family_of(std::string_view name);  // under mutex_
  Series& add(Family& family, std::span<const std::string_view> values);
  std::vector<FamilyView> view() const;

  // Constant after construction.
  const MetricsIdentity identity_;
  const std::size_t series_max_;
  std::unordered_map<std::string_view, std::size_t> places_;  // of families, by name

  mutable std::mutex mutex_;
  std::vector<Family> families_;  // guarded by mutex_; series are never destroyed or moved

  mutable std::mutex scrape_mutex_;
  std::vector<std::function<void()>> refreshers_;  // guarded by scrape_mutex_
};

/// Content-Type of prometheus_text().
inline constexpr std::string_view kPrometheusContentType =
    "text/plain; version=0.0.4; charset=utf-8";

}  // namespace zerohop

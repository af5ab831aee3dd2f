#include "trace_sim/report.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/check.h"
#include "trace_sim/block_policies.h"
#include "trace_sim/cache_replay.h"

namespace zerohop::trace_sim {
namespace {

constexpr double kMedian = 0.5;
constexpr double kMost = 0.9;
// Times to first token below this are drawn as this: the chart's axis is logarithmic.
constexpr double kDrawnSecondsMin = 1e-3;

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto last = static_cast<double>(values.size() - 1);
  return values[static_cast<std::size_t>(share * last + 0.5)];
}

std::string percent(double share) { return fixed(share * 100, 1) + " %"; }

// ---- clients ----

using Waits = std::map<std::string, std::vector<double>>;  // seconds to the first token, by client

Waits waits_of(const EngineReplay& replayed) {
  Waits waits;
  for (const ServedRequest& request : replayed.served) {
    waits[replayed.clients[request.client]].push_back(request.first_token - request.arrived);
  }
  return waits;
}

// The clients, those that asked for the fewest tokens first.
std::vector<std::string> by_weight(const LengthTrace& trace) {
  std::map<std::string, std::uint64_t> tokens;
  for (const LengthRequest& request : trace) {
    tokens[request.client] += request.prompt_tokens + request.output_tokens;
  }
  std::vector<std::string> clients;
  for (const auto& [client, count] : tokens) clients.push_back(client);
  std::stable_sort(clients.begin(), clients.end(),
                   [&](const auto& a, const auto& b) { return tokens.at(a) < tokens.at(b); });
  return clients;
}

// All waits of `clients` in one list.
std::vector<double> together(const Waits& waits, const std::vector<std::string>& clients) {
  std::vector<double> all;
  for (const std::string& client : clients) {
    const auto found = waits.find(client);
    if (found != waits.end()) all.insert(all.end(), found->second.begin(), found->second.end());
  }
  return all;
}

Waits alone(const LengthTrace& trace, const std::vector<std::string>& clients,
            const EngineReplayOptions& options) {
  Waits waits;
  for (const std::string& client : clients) {
    const LengthTrace own =
        filtered(trace, [&](const LengthRequest& request) { return request.client == client; });
    waits.merge(waits_of(replay(own, options)));
  }
  return waits;
}

// ---- one run ----

double goodput(const EngineReplay& replayed, const Objectives& objectives) {
  std::uint64_t good = 0;
  for (const ServedRequest& request : replayed.served) {
    const bool soon = request.first_token - request.arrived <= objectives.first_token_seconds;
    if (soon && request.gap_max <= objectives.gap_seconds) ++good;
  }
  return static_cast<double>(good) / replayed.seconds;
}

std::vector<double> all_waits(const EngineReplay& replayed) {
  std::vector<double> waits;
  for (const ServedRequest& request : replayed.served) {
    waits.push_back(request.first_token - request.arrived);
  }
  return waits;
}

std::vector<std::string> run_cells(const EngineReplay& replayed, const Objectives& objectives) {
  std::vector<double> gaps;
  for (const ServedRequest& request : replayed.served) gaps.push_back(request.gap_max);
  return {fixed(static_cast<double>(replayed.tokens()) / replayed.seconds, 0),
          fixed(percentile(all_waits(replayed), kMedian), 2),
          fixed(percentile(all_waits(replayed), kMost), 2),
          fixed(percentile(gaps, kMost) * 1000, 0),
          fixed(goodput(replayed, objectives) * 60, 1),
          std::to_string(replayed.refused)};
}

const std::vector<std::string> kRunNames = {"tokens/s",   "TTFT p50 s", "TTFT p90 s",
                                            "gap p90 ms", "good/min",   "refused"};

std::vector<std::string> joined(std::vector<std::string> first,
                                const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// ---- reports ----

std::string plain_loads(const LengthTrace& trace, const LoadReportOptions& options, double unit) {
  Table table(joined({"load"}, kRunNames));
  for (const double load : options.loads) {
    EngineReplayOptions engine = options.engine;
    engine.stretch = unit / load;
    table.add(joined({fixed(load, 1)}, run_cells(replay(trace, engine), options.objectives)));
  }
  return table.text();
}

struct ClientRuns {
  Waits fair;
  Waits arrival;
  Waits alone;
};

std::string client_table(const std::vector<std::string>& clients, const ClientRuns& runs) {
  Table table({"client", "requests", "alone p50 s", "p90 s", "fair p50 s", "p90 s", "arrival p50 s",
               "p90 s"});
  for (const std::string& client : clients) {
    const auto served = runs.fair.find(client);
    const std::size_t requests = served != runs.fair.end() ? served->second.size() : 0;
    std::vector<std::string> cells = {client, std::to_string(requests)};
    for (const Waits* waits : {&runs.alone, &runs.fair, &runs.arrival}) {
      const auto found = waits->find(client);
      const bool ran = found != waits->end();
      cells.push_back(ran ? fixed(percentile(found->second, kMedian), 2) : "");
      cells.push_back(ran ? fixed(percentile(found->second, kMost), 2) : "");
    }
    table.add(std::move(cells));
  }
  return table.text();
}

LoadReport client_loads(const LengthTrace& trace, const LoadReportOptions& options, double unit) {
  const std::vector<std::string> clients = by_weight(trace);
  const std::vector<std::string> light(clients.begin(),
                                       clients.begin() + static_cast<long>(clients.size() / 2));
  Table table(joined(joined({"load", "order"}, kRunNames), {"light p50 s", "÷ alone"}));
  LoadReport report;
  report.chart = {"Median time to first token of the lighter half of the clients",
                  "load ÷ what can be served",
                  "seconds",
                  {{"first come, first served", {}}, {"fair", {}}, {"alone", {}}}};
  for (const double load : options.loads) {
    EngineReplayOptions engine = options.engine;
    engine.stretch = unit / load;
    ClientRuns runs;
    runs.alone = alone(trace, light, engine);
    const double alone_median = percentile(together(runs.alone, light), kMedian);
    report.chart.lines[2].points.emplace_back(load, std::max(alone_median, kDrawnSecondsMin));
    for (const ServiceOrder order : {ServiceOrder::kArrival, ServiceOrder::kFair}) {
      engine.order = order;
      const bool fair = order == ServiceOrder::kFair;
      const EngineReplay replayed = replay(trace, engine);
      (fair ? runs.fair : runs.arrival) = waits_of(replayed);
      const double median = percentile(together(waits_of(replayed), light), kMedian);
      report.chart.lines[fair ? 1 : 0].points.emplace_back(load,
                                                           std::max(median, kDrawnSecondsMin));
      const std::vector<std::string> light_cells = {fixed(median, 2),
                                                    fixed(median / alone_median, 2)};
      table.add(joined(joined({fixed(load, 1), fair ? "fair" : "arrival"},
                              run_cells(replayed, options.objectives)),
                       light_cells));
    }
    if (load != options.loads.back()) continue;
    report.text = "\nBy client at load " + fixed(load, 1) + ", the lightest first:\n\n" +
                  client_table(clients, runs);
  }
  report.text = table.text() + report.text;
  return report;
}

}  // namespace

std::string cache_report(const BlockTrace& trace, const CacheReportOptions& options) {
  const TraceSize size = measure(trace);
  const auto share = [&](double hits) { return hits / static_cast<double>(size.ceiling); };
  Table table({"cache", "blocks", "LRU", "cache, by recency", "cache, by expected reuse", "optimum",
               "gap closed", "misses: cells", "misses: holders"});
  for (const CacheSize& wanted : options.sizes) {
    CacheReplayOptions replaying;
    replaying.tokens_per_block = options.tokens_per_block;
    replaying.slots = options.slots;
    replaying.capacity_blocks = wanted.blocks;
    if (wanted.blocks == 0) {
      replaying.capacity_blocks =
          static_cast<std::uint64_t>(wanted.share * static_cast<double>(size.distinct));
    }
    replaying.order = EvictionOrder::kLeastRecent;
    const double recent = share(replay(trace, replaying).hit_blocks);
    replaying.order = EvictionOrder::kExpectedReuse;
    const CacheReplay ours = replay(trace, replaying);
    const double found = share(ours.hit_blocks);
    const double lru = share(static_cast<double>(recency_hits(trace, replaying.capacity_blocks)));
    const double optimum =
        share(static_cast<double>(optimum_hits(trace, replaying.capacity_blocks)));
    const double part =
        static_cast<double>(replaying.capacity_blocks) / static_cast<double>(size.distinct);
    table.add(
        {percent(part), std::to_string(replaying.capacity_blocks), fixed(lru, 4), fixed(recent, 4),
         fixed(found, 4), fixed(optimum, 4),
         optimum > lru ? percent((found - lru) / (optimum - lru)) : "",
         std::to_string(ours.misses_by_cap.at(static_cast<std::size_t>(CacheCap::kCells))),
         std::to_string(ours.misses_by_cap.at(static_cast<std::size_t>(CacheCap::kHolders)))});
  }
  return std::to_string(trace.size()) + " requests, " + std::to_string(size.blocks) + " blocks, " +
         std::to_string(size.distinct) + " different ones; a cache without limit hits " +
         std::to_string(size.ceiling) + " (" +
         percent(static_cast<double>(size.ceiling) / static_cast<double>(size.blocks)) +
         "), which is 1 below.\n\n" + table.text();
}

LoadReport load_report(const LengthTrace& trace, const LoadReportOptions& options) {
  const double unit = offered_load(trace, options.engine);
  if (trace.front().client.empty()) return {plain_loads(trace, options, unit), {}};
  return client_loads(trace, options, unit);
}

}  // namespace zerohop::trace_sim

// What probes and scrapes wait for while long prompts keep all cores busy.
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "bench_clock.h"
#include "door_scenarios.h"
#include "http_wire.h"
#include "paced_load.h"
#include "report.h"
#include "text_source.h"

namespace zerohop::bench {
namespace {

constexpr int kRounds = 2;
constexpr double kProbeSeconds = 20;
constexpr double kIdleSeconds = 5;
constexpr double kProbesPerSecond = 50;  // of each of the two
constexpr int kPromptTokens = 6'000;
constexpr double kGoalMs = 5;
constexpr Room kRoom{.sequences = 2, .cells = 16384, .window = 8192};
const std::string kPaths[] = {"/healthz", "/metrics"};

std::string prompt(TextSource& text, const std::string& key) {
  return post_bytes("/v1/messages",
                    R"({"model":"smollm2-135m","max_tokens":1,"temperature":0,)"
                    R"("messages":[{"role":"user","content":")" +
                        text.text(kPromptTokens) + R"("}]})",
                    key_header(key));
}

double seconds_of_one(std::uint16_t port, const std::string& request) {
  const double begin = now_seconds();
  const std::optional<Answer> answer = exchange_bytes(port, request);
  ZH_CHECK(answer && answer->status == 200);
  return now_seconds() - begin;
}

// Prompts behind each other, from different tenants, whose answers nobody reads; what is still to
// be computed of them ends with the object.
class PromptsInWork {
 public:
  PromptsInWork(std::uint16_t port, const std::vector<std::string>& requests) {
    for (const std::string& request : requests) {
      descriptors_.push_back(connect_to(port));
      ZH_CHECK(send_all(descriptors_.back(), request));
    }
  }
  ~PromptsInWork() {
    for (const int descriptor : descriptors_) close(descriptor);
  }
  PromptsInWork(const PromptsInWork&) = delete;
  PromptsInWork& operator=(const PromptsInWork&) = delete;

 private:
  std::vector<int> descriptors_;
};

LoadFigures probe(std::uint16_t port, const std::string& key, double seconds) {
  PacedLoad load{.port = port, .requests = {}, .connections = 16};
  for (const std::string& path : kPaths) load.requests.push_back(get_bytes(path, key_header(key)));
  return run_open(load, {2 * kProbesPerSecond, seconds, Arrivals::kEven});
}

struct PathFigures {
  std::vector<double> middle, late, most, served_late;

  void note(const LoadFigures& figures, std::size_t path) {
    std::vector<double> all;
    std::vector<double> served;
    for (const LoadAnswer& answer : figures.answers) {
      if (answer.request != path || answer.status != 200) continue;
      all.push_back(answer.latency * 1e3);
      served.push_back((answer.latency - answer.sent_late) * 1e3);
    }
    ZH_CHECK(!all.empty());
    middle.push_back(percentile(all, 0.5));
    late.push_back(percentile(all, 0.99));
    most.push_back(percentile(all, 1));
    served_late.push_back(percentile(served, 0.99));
  }

  void add_to(Comparison& report, const std::string& name, bool goal) const {
    report.add({name + ", p50", "ms", middle});
    ComparisonRow row{"… p99", "ms", late};
    if (goal) {
      row.goal = "< 5 ms";
      row.met = percentile(late, 0.5) < kGoalMs;
    }
    report.add(row);
    report.add({"… p99 from when it was sent", "ms", served_late});
    report.add({"… longest", "ms", most});
  }
};

bool prefills(std::uint16_t port) {
  const std::optional<Answer> health = exchange(port, "/healthz");
  return health && number_after(health->body, R"("prefilling":)").value_or(0) > 0;
}

}  // namespace

void bench_probes(const DoorBench& bench) {
  bench.report.begin(
      "probes",
      "`/healthz` and `/metrics` 50 times a second each, for 20 s in which prompts of 6,000 tokens "
      "follow each other, twice. The page has the series of 1,000 tenants. Latencies count from "
      "the time at which a probe is due, so they hold what the generator waits for a core as well; "
      "the line behind counts from when it was sent.",
      kFigures);
  const TenantKeys tenants;
  std::vector<std::string> environment = tenants.environment();
  environment.emplace_back("ZEROHOP_SCHEDULER_MAX_WAIT_SECONDS=86400");
  const ChildServer server(bench.programs, Side::kOurs, kRoom, environment);
  tenants.use_all(server.port());
  const std::string& key = tenants.texts().front();
  TextSource text(4711);
  PathFigures idle[2];
  PathFigures busy[2];
  ComparisonRow lasting{"prompts were computed for", "s"};
  for (int round = 0; round < kRounds; ++round) {
    const LoadFigures calm = probe(server.port(), key, kIdleSeconds);
    const double one = seconds_of_one(server.port(), prompt(text, key));
    const auto count = static_cast<std::size_t>(std::ceil(1.5 * kProbeSeconds / one));
    std::vector<std::string> requests;
    for (std::size_t i = 0; i < count; ++i) {
      requests.push_back(prompt(text, tenants.texts()[i % tenants.texts().size()]));
    }
    const double begin = now_seconds();
    const PromptsInWork work(server.port(), requests);
    while (!prefills(server.port())) {
    }
    const LoadFigures loaded = probe(server.port(), key, kProbeSeconds);
    ZH_CHECK(prefills(server.port()));  // else the probes saw an idle server in the end
    lasting.ours.push_back(now_seconds() - begin);
    for (std::size_t path = 0; path < 2; ++path) {
      idle[path].note(calm, path);
      busy[path].note(loaded, path);
    }
    if (loaded.latencies(200).size() != loaded.answers.size() || loaded.broken > 0) {
      std::printf("  not all were answered well: %s\n", loaded.statuses().c_str());
    }
  }
  bench.report.add(lasting);
  const std::optional<Answer> page =
      exchange_bytes(server.port(), get_bytes("/metrics", key_header(key)));
  ZH_CHECK(page.has_value());
  bench.report.add({"size of the page", "kB", {static_cast<double>(page->body.size()) / 1e3}});
  for (std::size_t path = 0; path < 2; ++path) {
    busy[path].add_to(bench.report, kPaths[path], true);
    idle[path].add_to(bench.report, kPaths[path] + " of an idle server", false);
  }
}

}  // namespace zerohop::bench

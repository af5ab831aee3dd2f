// What seeing costs: the throughput of eight streams with everything watched and with nothing, in
// turn, and the time that the metrics take of a step.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "bench_clock.h"
#include "chat_load.h"
#include "door_scenarios.h"
#include "http_wire.h"
#include "paced_load.h"
#include "report.h"
#include "telemetry/observed_step.h"
#include "text_source.h"

namespace zerohop::bench {
namespace {

constexpr int kPairs = 8;
constexpr double kSettleSeconds = 1;  // of a block, before what counts
constexpr double kCountedSeconds = 8;
constexpr std::size_t kStreams = 8;
constexpr int kAnswerTokens = 64;
constexpr double kLookEverySeconds = 1;
constexpr double kGoal = 0.99;
constexpr double kStepShareGoal = 1;  // percent
constexpr int kNotes = 1'000'000;

Room room(std::string log_file) {
  return {.sequences = 8, .cells = 16384, .window = 2048, .log_file = std::move(log_file)};
}

enum class Watch : std::uint8_t { kNothing, kEverything };

class Streams {
 public:
  Streams(const ChildServer& server, const TenantKeys& tenants, TextSource& text)
      : server_(server), tenants_(tenants), text_(text), load_(server.port()) {
    load_.set_on_end([this](std::size_t index) {
      ZH_CHECK(load_.log(index).end == ChatEnd::kWhole);
      start();
    });
    for (std::size_t i = 0; i < kStreams; ++i) start();
  }

  /// Pieces of text (one a token) a second, once the streams have settled.
  double rate(Watch watch) {
    run(kSettleSeconds, watch);
    const double begin = now_seconds();
    run(kCountedSeconds, watch);
    const double end = now_seconds();
    double pieces = 0;
    for (const ChatLog& log : load_.logs()) {
      pieces += static_cast<double>(std::ranges::count_if(
          log.text_times, [&](double at) { return at >= begin && at < end; }));
    }
    return pieces / (end - begin);
  }

 private:
  void start() {
    const std::string& key = tenants_.texts()[started_++ % tenants_.texts().size()];
    load_.start({.system = {},
                 .turns = {text_.text(20)},
                 .max_tokens = kAnswerTokens,
                 .endless = true,
                 .headers = key_header(key)});
  }

  void run(double seconds, Watch watch) {
    const double until = now_seconds() + seconds;
    double look_at = now_seconds();
    for (double now = look_at; now < until; now = now_seconds()) {
      if (watch == Watch::kEverything && now >= look_at) {
        look();
        look_at += kLookEverySeconds;
      }
      load_.poll_once(std::min(until, watch == Watch::kNothing ? until : look_at) - now);
    }
  }

  // A scrape, and what an open console asks for.
  void look() {
    for (const char* path : {"/metrics", "/console/data"}) {
      const std::string key = key_header(tenants_.texts().front());
      const std::optional<Answer> answer = exchange_bytes(server_.port(), get_bytes(path, key));
      ZH_CHECK(answer && answer->status == 200);
    }
  }

  const ChildServer& server_;
  const TenantKeys& tenants_;
  TextSource& text_;
  std::size_t started_ = 0;
  ChatLoad load_;
};

struct Steps {
  double seconds = 0;
  double number = 0;
};

Steps steps_of(const ChildServer& server, const TenantKeys& tenants) {
  const std::string key = key_header(tenants.texts().front());
  const std::optional<Answer> page = exchange_bytes(server.port(), get_bytes("/metrics", key));
  ZH_CHECK(page.has_value());
  return {metric_in(page->body, "zerohop_engine_step_seconds_sum").value_or(0),
          metric_in(page->body, "zerohop_engine_step_seconds_count").value_or(0)};
}

// Nanoseconds of what the metrics take note of in a step.
double nanoseconds_of_notes() {
  const SteadyClock clock;
  MetricsRegistry registry({"bench-1", "default"});
  ObservedStep step(registry, clock);
  const double begin = now_seconds();
  for (int i = 0; i < kNotes; ++i) step.note();
  return (now_seconds() - begin) / kNotes * 1e9;
}

}  // namespace

void bench_observability(const DoorBench& bench) {
  bench.report.begin(
      "observability",
      "Eight clients, each asks for 64 tokens again and again, from two processes of the same "
      "program in turn: on, off, off, on … for 8 s each, eight pairs. On: the log of every request "
      "goes to a file; every second `/metrics` with the series of 1,000 tenants is scraped, and "
      "`/console/data` is read as an open console does. Off: errors alone are logged and nobody "
      "asks; metrics are counted all the same, so their cost is measured by itself: what a step of "
      "eight answers with a token each makes them take note of, as a share of such a step.",
      ComparisonColumns{"on", "off"});
  const TenantKeys tenants;
  const std::string log_file = (tenants.folder() / "server.log").string();
  const ChildServer on(bench.programs, Side::kOurs, room(log_file), tenants.environment());
  const ChildServer off(bench.programs, Side::kOurs, room({}), tenants.environment());
  tenants.use_all(on.port());
  tenants.use_all(off.port());
  TextSource text(99);
  ComparisonRow rate{"tokens of all streams", "/s"};
  ComparisonRow share{"… on ÷ off, by pairs"};
  const auto measure = [&](Watch watch) {
    const bool all = watch == Watch::kEverything;
    (all ? rate.ours : rate.peer).push_back(Streams(all ? on : off, tenants, text).rate(watch));
  };
  const Steps before = steps_of(off, tenants);
  for (int pair = 0; pair < kPairs; ++pair) {
    measure(pair % 2 == 0 ? Watch::kEverything : Watch::kNothing);
    measure(pair % 2 == 0 ? Watch::kNothing : Watch::kEverything);
    share.ours.push_back(rate.ours.back() / rate.peer.back());
  }
  const Steps after = steps_of(off, tenants);
  share.goal = "≥ 0.99";
  share.met = percentile(share.ours, 0.5) >= kGoal;
  ComparisonRow step{"mean step", "ms"};
  step.peer = {(after.seconds - before.seconds) / (after.number - before.number) * 1e3};
  ComparisonRow notes{"metrics of a step of eight tokens", "µs", {nanoseconds_of_notes() / 1e3}};
  ComparisonRow part{"… of the step", "%"};
  part.ours = {notes.ours.front() / (step.peer.front() * 1e3) * 100};
  part.goal = "≤ 1 %";
  part.met = part.ours.front() <= kStepShareGoal;
  for (const ComparisonRow& row : {rate, share, step, notes, part}) bench.report.add(row);
}

}  // namespace zerohop::bench

// Ten times as many requests as the server can answer: does it still answer as many in time as it
// does at capacity, and does everybody else get an answer?
#include <cstdio>
#include <vector>

#include "door_scenarios.h"
#include "http_wire.h"
#include "paced_load.h"
#include "report.h"

namespace zerohop::bench {
namespace {

constexpr int kRounds = 2;
constexpr double kWarmUpSeconds = 6;
constexpr double kCountedSeconds = 14;
constexpr double kDeadlineSeconds = 5;
constexpr std::size_t kClients = 16;       // twice as many as are computed at once
constexpr std::size_t kConnections = 768;  // more than can wait at once within the deadline
constexpr int kQuestions = 256;
constexpr double kTimesCapacity = 10;
constexpr double kGoal = 0.95;
constexpr int kTooLate = 504;
constexpr Room kRoom{.sequences = 8, .cells = 16384, .window = 2048};

std::vector<std::string> questions() {
  std::vector<std::string> requests;
  for (int i = 0; i < kQuestions; ++i) {
    const std::string body =
        R"({"model":"smollm2-135m","max_tokens":16,"temperature":0,)"
        R"("logit_bias":{"0":-100,"2":-100},"messages":[{"role":"user","content":"Letter )" +
        std::to_string(i) + R"(: tell me what the traveller saw today."}]})";
    requests.push_back(post_bytes("/v1/messages", body, "anthropic-deadline-ms: 5000\r\n"));
  }
  return requests;
}

// Answers within their deadline, a second, once the load has settled.
double goodput(const LoadFigures& figures) {
  double good = 0;
  for (const LoadAnswer& answer : figures.answers) {
    const bool counted =
        answer.ended_at >= kWarmUpSeconds && answer.ended_at < kWarmUpSeconds + kCountedSeconds;
    if (counted && answer.status == 200 && answer.latency <= kDeadlineSeconds) ++good;
  }
  return good / kCountedSeconds;
}

struct Overload {
  ComparisonRow peak{"answers in time at capacity", "/s"};
  ComparisonRow good{"answers in time at ten times that load", "/s"};
  ComparisonRow share{"… of those at capacity"};
  ComparisonRow offered{"requests offered", "/s"};
  ComparisonRow late{"answers that came too late"};
  ComparisonRow expired{"let in, and told later that the deadline has passed (504)"};
  ComparisonRow silent{"requests without any answer"};
  ComparisonRow refused{"refusals", "/s"};
  ComparisonRow refusal_middle{"… time to refuse, p50", "ms"};
  ComparisonRow refusal_late{"… time to refuse, p99", "ms"};

  void note(double capacity, const LoadFigures& figures) {
    peak.ours.push_back(capacity);
    good.ours.push_back(goodput(figures));
    share.ours.push_back(good.ours.back() / capacity);
    offered.ours.push_back(kTimesCapacity * capacity);
    std::vector<double> refusals;
    double late_answers = 0;
    double expired_ones = 0;
    for (const LoadAnswer& answer : figures.answers) {
      if (answer.status == kTooLate) {
        ++expired_ones;
      } else if (answer.status != 200) {
        refusals.push_back(answer.latency * 1e3);
      } else if (answer.latency > kDeadlineSeconds) {
        ++late_answers;
      }
    }
    expired.ours.push_back(expired_ones);
    late.ours.push_back(late_answers);
    silent.ours.push_back(static_cast<double>(figures.broken));
    refused.ours.push_back(static_cast<double>(refusals.size()) / figures.seconds);
    if (refusals.empty()) return;
    refusal_middle.ours.push_back(percentile(refusals, 0.5));
    refusal_late.ours.push_back(percentile(refusals, 0.99));
  }

  void add_to(Comparison& report) {
    share.goal = "≥ 0.95";
    share.met = percentile(share.ours, 0.5) >= kGoal;
    silent.goal = "0";
    silent.met = percentile(silent.ours, 1) == 0;
    refusal_middle.goal = "< 1 ms";
    refusal_middle.met = !refusal_middle.ours.empty() && percentile(refusal_middle.ours, 0.5) < 1;
    for (const ComparisonRow& row : {peak, offered, good, share, late, expired, silent, refused,
                                     refusal_middle, refusal_late}) {
      report.add(row);
    }
  }
};

}  // namespace

void bench_overload(const DoorBench& bench) {
  bench.report.begin(
      "overload",
      "Answers of 16 tokens to short questions, whole; each has a deadline of 5 s "
      "(`anthropic-deadline-ms`), and the queue takes nobody who would wait longer than 4 s for a "
      "first "
      "token (`queue.class_wait_max_seconds: [4, 4, 4]`). At capacity: 16 clients on 8 sequences, "
      "each asks again when it "
      "has its answer. Then ten times as many requests a second as were answered, at random times "
      "and whatever becomes of the earlier ones; who is refused does not come back. Both for 20 s, "
      "of which the last 14 count, in turn, twice.",
      kFigures);
  const ChildServer server(
      bench.programs, Side::kOurs, kRoom,
      {"ZEROHOP_LIMITS_USAGE_FOLDER=", "ZEROHOP_QUEUE_CLASS_WAIT_MAX_SECONDS=4,4,4"});
  const std::vector<std::string> requests = questions();
  const double seconds = kWarmUpSeconds + kCountedSeconds;
  Overload overload;
  for (int round = 0; round < kRounds; ++round) {
    const LoadFigures capacity = run_closed(
        {.port = server.port(), .requests = requests, .connections = kClients}, {seconds});
    const double peak = goodput(capacity);
    const LoadFigures flood =
        run_open({.port = server.port(), .requests = requests, .connections = kConnections},
                 {kTimesCapacity * peak, seconds, Arrivals::kRandom});
    std::printf("  at capacity: %s; at ten times: %s\n", capacity.statuses().c_str(),
                flood.statuses().c_str());
    overload.note(peak, flood);
  }
  overload.add_to(bench.report);
}

}  // namespace zerohop::bench

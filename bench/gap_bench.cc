// 4 running streams while a prompt of 2,000 tokens arrives: the longest silence of the streams, and
// when the prompt's own first token comes.

#include <algorithm>
#include <string>
#include <vector>

#include "base/check.h"
#include "chat_load.h"
#include "peer_scenarios.h"
#include "report.h"
#include "text_source.h"

namespace zerohop::bench {
namespace {

constexpr std::size_t kStreams = 4;
constexpr int kStreamTokens = 1000;
constexpr std::size_t kTokensBefore = 20;
constexpr int kPromptTokens = 2000;
constexpr double kObjectiveMs = 100;  // engine.itl_objective_ms as it is by default
constexpr Room kRoom{.sequences = 8, .cells = 8 * 3072, .window = 3072};

struct Outcome {
  double gap_ms = 0;
  double first_text_ms = 0;
  double stream_rate = 0;  // tokens a second of all streams while the prompt was computed
};

Outcome run(const PeerBench& bench, Side side, int round) {
  const ChildServer server(bench.programs, side, kRoom);
  warm_up(server);
  TextSource text(200 + static_cast<std::uint64_t>(round));
  ChatLoad load(server.port());
  ChatBody body{.system = text.text(20), .turns = {""}, .max_tokens = kStreamTokens};
  for (std::size_t i = 0; i < kStreams; ++i) {
    body.turns.front() = text.text(20);
    load.start(body);
  }
  load.run_until([&load] {
    return std::all_of(load.logs().begin(), load.logs().end(),
                       [](const ChatLog& log) { return log.text_times.size() >= kTokensBefore; });
  });
  body.system = text.text(kPromptTokens);
  body.max_tokens = 4;
  const std::size_t late = load.start(body);
  load.run_until([&load, late] { return !load.log(late).text_times.empty(); });
  ZH_CHECK(!load.log(late).text_times.empty());
  const double sent_at = load.log(late).sent_at;
  const double until = load.log(late).text_times.front();
  // A silence that lasts as long as the prefill ends with the first piece behind it.
  load.run_until([&load, until] {
    return std::all_of(load.logs().begin(), load.logs().begin() + kStreams,
                       [until](const ChatLog& log) { return log.text_times.back() > until; });
  });
  Outcome outcome{.first_text_ms = (until - sent_at) * 1e3};
  double pieces = 0;
  for (std::size_t i = 0; i < kStreams; ++i) {
    const std::vector<double>& times = load.log(i).text_times;
    for (std::size_t t = 1; t < times.size(); ++t) {
      if (times[t] <= sent_at || times[t - 1] >= until) continue;
      outcome.gap_ms = std::max(outcome.gap_ms, (times[t] - times[t - 1]) * 1e3);
      ++pieces;
    }
  }
  outcome.stream_rate = pieces / (until - sent_at);
  return outcome;
}

}  // namespace

void bench_gap(const PeerBench& bench) {
  bench.report.begin("gap",
                     "4 streams run while a prompt of 2,000 tokens arrives. 8 sequences (slots), "
                     "24,576 cells, the objective between two tokens 100 ms (`engine."
                     "itl_objective_ms`, the default).");
  std::vector<double> values[2][3];
  for (int round = 0; round < bench.rounds; ++round) {
    for (const Side side : bench.sides) {
      const Outcome outcome = run(bench, side, round);
      std::vector<double>* of_side = values[static_cast<int>(side)];
      of_side[0].push_back(outcome.gap_ms);
      of_side[1].push_back(outcome.first_text_ms);
      of_side[2].push_back(outcome.stream_rate);
    }
  }
  bench.report.add({.label = "longest gap of a stream",
                    .unit = "ms",
                    .ours = values[0][0],
                    .peer = values[1][0],
                    .goal = "≤ 2 × 100 ms",
                    .met = percentile(values[0][0], 0.5) <= 2 * kObjectiveMs});
  bench.report.add({.label = "first token of the long prompt",
                    .unit = "ms",
                    .ours = values[0][1],
                    .peer = values[1][1],
                    .goal = ""});
  bench.report.add({.label = "the 4 streams meanwhile",
                    .unit = "tokens/s",
                    .ours = values[0][2],
                    .peer = values[1][2],
                    .goal = ""});
}

}  // namespace zerohop::bench

// What a long system prompt costs when it is cached. The attention over its 1,000 cells is part of
// the difference; `./dev bench server -- prefix` takes that part away.

#include <vector>

#include "peer_scenarios.h"
#include "prefix_load.h"
#include "report.h"

namespace zerohop::bench {
namespace {

constexpr int kPairs = 60;

}  // namespace

void bench_prefix(const PeerBench& bench) {
  bench.report.begin(
      "prefix",
      "Answers of one token behind a cached system prompt of 1,000 tokens and behind "
      "one of two tokens, in turn, each to a question of 12 tokens that was never "
      "asked before; medians of 60. Two processes of each server take turns.");
  std::vector<double> values[2][5];
  for (int round = 0; round < bench.rounds; ++round) {
    for (const Side side : bench.sides) {
      const PrefixTimes times = measure_prefix(bench.programs, side, kPairs);
      std::vector<double>* of_side = values[static_cast<int>(side)];
      of_side[0].push_back(percentile(times.warm.milliseconds, 0.5));
      of_side[1].push_back(percentile(times.brief.milliseconds, 0.5));
      of_side[2].push_back(of_side[0].back() - of_side[1].back());
      of_side[3].push_back(times.warm.computed_tokens);
      of_side[4].push_back(times.brief.computed_tokens);
    }
  }
  const char* labels[] = {"behind 1,000 cached tokens", "behind 2 tokens", "difference",
                          "prompt tokens computed behind 1,000", "… behind 2"};
  for (int i = 0; i < 5; ++i) {
    bench.report.add({.label = labels[i],
                      .unit = i < 3 ? "ms" : "",
                      .ours = values[0][i],
                      .peer = values[1][i],
                      .goal = ""});
  }
}

}  // namespace zerohop::bench
